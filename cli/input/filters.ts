/** Flags of lists: paging, and filters for records and events. */
import * as Flags from '@oclif/core/flags'
import type { FlagValues } from '../define-command.ts'
import { UsageError } from '../errors/errors.ts'
import { eventSubjects, type EventName } from '../../src/definitions/event-subjects.ts'
import { definitionOf, meanings, type Topic } from '../format/states.ts'

export const pagingFlags = {
  limit: Flags.integer({ description: 'maximum number of items', min: 1, max: 1_000, default: 100 }),
  offset: Flags.integer({ description: 'number of items to skip', min: 0, default: 0 }),
}

type Paging = { limit: number; offset: number }

/** Converts the paging flags to a query, newest first. */
export function toPaging({ limit, offset }: Paging): Paging & { order: 'desc' } {
  return { limit, offset, order: 'desc' }
}

/** The flags of lists of records: paging, thread, state and role. */
export const recordFlags = {
  ...pagingFlags,
  thid: Flags.string({ description: 'only the record of this DIDComm thread' }),
  state: Flags.string({ description: 'only records in this state: its words, such as issued, or its name' }),
  role: Flags.string({ description: 'only records with this role of the wallet' }),
}

/** Converts the flags of a list of records to a query. @throws {UsageError} for an unknown state or role. */
export function toRecordQuery(
  topic: Topic,
  { thid, state, role, ...paging }: Paging & Partial<FlagValues<typeof recordFlags>>,
) {
  return {
    ...toPaging(paging),
    ...(thid !== undefined && { thid }),
    ...(state !== undefined && { state: readStates(topic, state).join(',') }),
    ...(role !== undefined && { role: readOneOf('role', topic, role, definitionOf(topic).roles) }),
  }
}

/** Finds the states that have these words, or this name, ignoring case. @throws {UsageError} */
export function readStates(topic: Topic, text: string): string[] {
  const wanted = text.toLowerCase()
  const states = Object.entries(meanings[topic])
  const found = states.filter(([name, { words }]) => wanted === name.toLowerCase() || wanted === words)
  if (found.length > 0) return found.map(([name]) => name)
  const words = [...new Set(states.map(([, state]) => state.words))].toSorted((a, b) => a.length - b.length)
  throw new UsageError(
    `--state: ${JSON.stringify(text)} is not a state of a ${topic}. Valid values: ${words.join('; ')}. So are their names, such as ${states[0]![0]}.`,
  )
}

/** Finds a state or a role of a topic, ignoring case. @throws {UsageError} */
export function readOneOf(flag: string, topic: Topic, text: string, known: readonly string[]): string {
  const found = known.find((each) => each.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  const name = flag === 'wait' ? 'state' : flag
  throw new UsageError(
    `--${flag}: ${JSON.stringify(text)} is not a ${name} of a ${topic}. Valid values: ${known.join(', ')}.`,
  )
}

export const eventTypes = Object.keys(eventSubjects) as EventName[]

/** The wallet whose events the administrator reads. */
export const walletFlag = Flags.string({
  description: 'events of this wallet, by its id (administrator)',
})

export const eventFlags = {
  type: Flags.option({ options: eventTypes, description: 'only events of this type' })(),
  thid: Flags.string({ description: 'only events about this DIDComm thread, or about this DID' }),
  wallet: walletFlag,
}
