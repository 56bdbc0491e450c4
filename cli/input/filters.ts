/** Flags of lists: paging, and filters for records and events. */
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../errors/errors.ts'
import { eventSubjects, type EventName } from '../../src/events/subjects.ts'
import { definitionOf, meanings, type Topic } from '../format/states.ts'

/** How many, and from where. */
export const pagingFlags = {
  limit: Flags.integer({ description: 'how many to show at most', min: 1, max: 1_000, default: 100 }),
  offset: Flags.integer({ description: 'how many to skip', min: 0, default: 0 }),
}

type Paging = { limit: number; offset: number }

/** The query that they make: the newest first. */
export function toPaging({ limit, offset }: Paging): Paging & { order: 'desc' } {
  return { limit, offset, order: 'desc' }
}

/** Lists of records that belong to DIDComm threads have three more. */
export const recordFlags = {
  ...pagingFlags,
  thid: Flags.string({ description: 'only the record of this DIDComm thread' }),
  state: Flags.string({ description: 'only those in this state' }),
  role: Flags.string({ description: 'only those in which this wallet has this role' }),
}

type RecordFlags = Paging & {
  thid?: string | undefined
  state?: string | undefined
  role?: string | undefined
}

/** The query that they make; what is not given is absent. @throws {UsageError} for a state or a role that there is not. */
export function toRecordQuery(topic: Topic, { thid, state, role, ...paging }: RecordFlags) {
  return {
    ...toPaging(paging),
    ...(thid !== undefined && { thid }),
    ...(state !== undefined && { state: readOneOf('state', topic, state, Object.keys(meanings[topic])) }),
    ...(role !== undefined && { role: readOneOf('role', topic, role, definitionOf(topic).roles) }),
  }
}

/** A state or a role of a topic, in capital or small letters. @throws {UsageError} */
export function readOneOf(flag: string, topic: Topic, text: string, known: readonly string[]): string {
  const found = known.find((each) => each.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  const name = flag === 'wait' ? 'state' : flag
  throw new UsageError(
    `--${flag}: ${JSON.stringify(text)} is no ${name} of a ${topic}. There are ${known.join(', ')}.`,
  )
}

/** The types of events. */
export const eventTypes = Object.keys(eventSubjects) as EventName[]

/** Whose events are meant, where the administrator asks. */
export const walletFlag = Flags.string({
  description: 'as the administrator: events of this wallet, by its id',
})

/** What events can be told apart by. */
export const eventFlags = {
  type: Flags.option({ options: eventTypes, description: 'only events of this type' })(),
  thid: Flags.string({ description: 'only events about this DIDComm thread, or about this DID' }),
  wallet: walletFlag,
}
