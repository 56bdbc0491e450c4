/** Reads the names of the connections of records. */
import type { Client } from '../../daemon/client/client.ts'
import { type Names, namesOf } from '../format/parties.ts'

/** The newest connections are read; those of others are shown by the end of their id. */
const query = { limit: 1_000, offset: 0, order: 'desc' } as const

/** Returns the names of the connections. Asks for nothing if no record has one. */
export async function readNames(
  call: Client,
  records: readonly { connectionId?: string | undefined }[],
): Promise<Names> {
  if (records.every(({ connectionId }) => connectionId === undefined)) return new Map()
  const { contents } = await call('GET /connections', { query })
  return namesOf(contents)
}
