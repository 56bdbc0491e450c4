/** The flags of every list. */
import * as Flags from '@oclif/core/flags'

/** How many, and from where. */
export const pagingFlags = {
  limit: Flags.integer({ description: 'how many to show at most', min: 1, max: 1_000, default: 100 }),
  offset: Flags.integer({ description: 'how many to skip', min: 0, default: 0 }),
}

/** The query that they make. */
export function toPaging({ limit, offset }: { limit: number; offset: number }): { limit: number; offset: number } {
  return { limit, offset }
}

/** Lists of records that belong to DIDComm threads have a third. */
export const recordFlags = {
  ...pagingFlags,
  thid: Flags.string({ description: 'only the record of this DIDComm thread' }),
}

/** The query that they make; what is not given is absent. */
export function toRecordQuery({ limit, offset, thid }: { limit: number; offset: number; thid?: string | undefined }) {
  return { limit, offset, ...(thid !== undefined && { thid }) }
}
