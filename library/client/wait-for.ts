/** Waits until a record has reached a state. */
import type { Client } from './client.ts'
import { checkTimeout, withLimits, type Signal } from './deadline.ts'
import type { EventData, RecordStates } from './endpoints.ts'
import { StateError } from './errors.ts'
import { events, firstEvent } from './events.ts'
import { definitions } from '../../src/definitions/protocols.ts'
import type { Machine } from '../../src/definitions/machine.ts'

/** The types of the events of records. */
export type RecordEvent = keyof RecordStates

/**
 * Which record: one that a call has returned, or its id; or the record that a DIDComm thread has in the
 * wallet, which need not exist yet.
 */
export type Which =
  | { connectionId: string }
  | { recordId: string }
  | { presentationId: string }
  | { type: RecordEvent; thid: string }

/** The type of the events of a record. */
type EventOf<W> = W extends { type: infer Type extends RecordEvent; thid: string }
  ? Type
  : W extends { presentationId: string }
    ? 'PresentationUpdated'
    : W extends { recordId: string }
      ? 'IssueCredentialRecordUpdated'
      : 'ConnectionUpdated'

/** The states that a record can be waited for in. */
export type StateOf<W> = RecordStates[EventOf<W>]

/** The record, and the member with its state. */
export type RecordIn<W, State> = EventData[EventOf<W>] &
  (EventOf<W> extends 'ConnectionUpdated'
    ? { state: State }
    : EventOf<W> extends 'PresentationUpdated'
      ? { status: State }
      : { protocolState: State })

export type WaitOptions = {
  /** The time, in milliseconds. Default: 300000. `Infinity` is no limit. */
  timeoutMs?: number | undefined
  /** Ends the wait, which then rejects with the reason of the signal. */
  signal?: Signal | undefined
}

/** A record of any kind, by its members. */
type AnyRecord = Record<string, unknown> & { role: string; thid: string }

/**
 * Waits until a record has reached a state, or one of several: `waitFor(client, connection,
 * 'ConnectionResponseSent')`. Returns the record as it was when it reached the state, even if it has left the
 * state since.
 *
 * @throws {StateError} when the record can no longer reach the state. @throws {TimedOutError}
 * @throws {TypeError} for a state that such a record never has. @throws as a call of the client does.
 */
export async function waitFor<W extends Which, const State extends StateOf<W>>(
  client: Client,
  which: W,
  state: State | readonly State[],
  { timeoutMs = 300_000, signal }: WaitOptions = {},
): Promise<RecordIn<W, State>> {
  const kind = kindOf(which)
  const wanted = typeof state === 'string' ? [state] : (state as readonly string[])
  check(kind, wanted)
  const wait: Wait = { client, kind, wanted, which, seen: undefined }
  const limits = {
    timeoutMs: checkTimeout(timeoutMs),
    signals: [signal],
    describe: () => `${describe(wait)} after ${timeoutMs / 1_000} s, and not ${wanted.join(' or ')}.`,
  }
  return (await withLimits(limits, (either) => reach(wait, either))) as RecordIn<W, State>
}

type Wait = {
  client: Client
  kind: Machine
  wanted: readonly string[]
  which: Readonly<Record<string, string>>
  /** The record as it was last seen. */
  seen: AnyRecord | undefined
}

async function reach(wait: Wait, signal: AbortSignal): Promise<AnyRecord> {
  const { client, kind, which } = wait
  for (const record of await readRecords(wait, signal)) {
    if (isReached(wait, record)) return record
    if (isOver(wait, record)) return findPast(wait, record, signal)
  }
  const thid = wait.seen?.thid ?? which['thid']!
  // From the begin of the log: the record may have changed since it was read.
  for await (const { data } of events(client, {
    type: kind.event as RecordEvent,
    thid,
    after: firstEvent,
    signal,
  })) {
    const record = data as AnyRecord
    if (data.test || !isMeant(wait, record)) continue
    wait.seen = record
    if (isReached(wait, record)) return record
    if (isOver(wait, record)) throw toStateError(wait, record)
  }
  throw signal.reason
}

/** The record, or those of the thread. */
async function readRecords(wait: Wait, signal: AbortSignal): Promise<AnyRecord[]> {
  const { client, kind, which } = wait
  const { route, id } = kind.resource
  const call = client as unknown as (route: string, input: object) => Promise<unknown>
  const found =
    which[id] === undefined
      ? await call(route.replace(/\/\{\w+\}$/, ''), { query: { thid: which['thid'] }, signal })
      : { contents: [await call(route, { path: { [id]: which[id] }, signal })] }
  const records = (found as { contents: AnyRecord[] }).contents.filter((record) => isMeant(wait, record))
  wait.seen = records[0]
  return records
}

/**
 * A record that is past the state has an event of the time when it reached it.
 *
 * @throws {StateError} if it never did.
 */
async function findPast(wait: Wait, record: AnyRecord, signal: AbortSignal): Promise<AnyRecord> {
  const query = { type: wait.kind.event as RecordEvent, thid: record.thid, limit: 1_000 }
  const { contents } = await wait.client('GET /events', { query, signal })
  const { id } = wait.kind.resource
  const past = contents
    .map(({ data }) => data as AnyRecord)
    .find((data) => data[id] === record[id] && isReached(wait, data))
  if (past) return past
  throw toStateError(wait, record)
}

/** A wallet can have both sides of a thread: the one is meant that can have the state. */
function isMeant({ kind, wanted, which }: Wait, record: AnyRecord): boolean {
  const { id } = kind.resource
  if (which[id] !== undefined) return record[id] === which[id]
  return kind.rows.some(([role, , , to]) => role === record.role && wanted.includes(to))
}

const stateOf = ({ kind }: Wait, record: AnyRecord) => record[kind.resource.state] as string

function isReached(wait: Wait, record: AnyRecord): boolean {
  return wait.wanted.includes(stateOf(wait, record))
}

/** True when no way leads from the state of the record to a wanted one. */
function isOver(wait: Wait, record: AnyRecord): boolean {
  const ahead = new Set([stateOf(wait, record)])
  for (const from of ahead)
    for (const row of wait.kind.rows) if (row[0] === record.role && row[1] === from) ahead.add(row[3])
  return !wait.wanted.some((state) => ahead.has(state))
}

function toStateError(wait: Wait, record: AnyRecord): StateError {
  const failure = record['metaLastFailure'] as { detail?: string } | undefined
  const reason = failure?.detail ? `: ${failure.detail.replace(/\.$/, '')}` : ''
  const message = `${describe(wait, record)} and can no longer reach ${wait.wanted.join(' or ')}${reason}.`
  return new StateError(message, { state: stateOf(wait, record), wanted: wait.wanted, record })
}

function describe(wait: Wait, record = wait.seen): string {
  const { topic, resource } = wait.kind
  if (record) {
    const state = stateOf(wait, record)
    const words = wait.kind.states[state]?.words
    return `The ${topic} ${String(record[resource.id])} is in ${state}${words ? ` (${words})` : ''}`
  }
  const { [resource.id]: id, thid } = wait.which
  return id === undefined
    ? `The thread ${thid} has no ${topic} record`
    : `The ${topic} ${id} has not been read`
}

/** @throws {TypeError} */
function kindOf(which: Partial<Record<string, unknown>>): Machine {
  // A presentation has the id of its connection as well.
  const machines: readonly Machine[] = definitions
  const found = machines.findLast(({ event, resource }) =>
    which['type'] === undefined ? typeof which[resource.id] === 'string' : which['type'] === event,
  )
  if (found && (which['type'] === undefined || typeof which['thid'] === 'string')) return found
  const ids = definitions.map(({ resource }) => resource.id).join(', ')
  throw new TypeError(`which: it names no record; give a record, one of ${ids}, or type and thid.`)
}

/** @throws {TypeError} */
function check({ topic, states }: Machine, wanted: readonly string[]): void {
  const unknown = wanted.find((state) => !Object.hasOwn(states, state))
  if (wanted.length > 0 && unknown === undefined) return
  const what =
    unknown === undefined ? 'it is empty' : `${JSON.stringify(unknown)} is not a state of a ${topic}`
  throw new TypeError(`state: ${what}; the states are ${Object.keys(states).join(', ')}.`)
}
