/**
 * Protocol records: the one shape that connections, credentials and presentations share, and the only
 * functions that write a state.
 *
 * A step writes the new state, the event it emits and the message or work it owes as rows of one
 * transaction: either all of them exist or none does (house rule: the whole of crash safety).
 */
import type { z } from 'zod'
import { newId } from '../../base/id.ts'
import { Problem, type ProblemType } from '../../base/problem.ts'
import type { Attachment } from '../../didcomm/message.ts'
import { putEvent } from '../../events/event.ts'
import { enqueue } from '../../outbox/job.ts'
import { noteThread } from '../../storage/tx-context.ts'
import type { Tx } from '../../storage/database.ts'
import { waitsSince } from './expiry.ts'
import { getRecord } from './find.ts'
import {
  findExpiry,
  findRow,
  statesBefore,
  type Machine,
  type RoleOf,
  type Row,
  type SendsOf,
  type StateOf,
  type TriggerOf,
} from './machine.ts'
import { insertRow, updateRow } from './rows.ts'

export type Protocol<M extends Machine = Machine, Data extends object = any> = {
  readonly name: string
  readonly states: M
  /** The fields beside those of `Rec`, as they are stored. */
  readonly model: z.ZodType<Data>
  /** Message type URIs by the names the table uses after `send`. */
  readonly messages: Readonly<Record<string, string>>
  /** The record as REST and events show it. */
  readonly toResource: (record: Rec<M, Data>) => object
  readonly problems: { readonly notFound: ProblemType; readonly wrongState: ProblemType }
}

/** A record of a protocol: what all have, and the protocol's own fields. */
export type Rec<M extends Machine = Machine, Data extends object = any> = {
  id: string
  thid: string
  role: RoleOf<M>
  state: StateOf<M>
  createdAt: string
  updatedAt?: string
} & Data

/** A message that a step owes: its name in the table, the two DIDs, and what it says. */
export type Outgoing<Name extends string = string> = {
  type: Name
  from: string
  to: string
  body: Record<string, unknown>
  attachments?: Attachment[]
  pthid?: string
  /** The type URI, where it is not the protocol's own: an answer speaks as it was spoken to. */
  typeUri?: string | undefined
}

/** The last argument of a step: the message its row sends, or nothing at all. */
type Owed<M extends Machine, T> = [SendsOf<M, T>] extends [never] ? [] : [message: Outgoing<SendsOf<M, T>>]

/** Creates a record by a row of the table that starts from nothing. `id` is made up unless it is given. */
export async function begin<M extends Machine, Data extends object, T extends TriggerOf<M>>(
  tx: Tx,
  protocol: Protocol<M, Data>,
  role: RoleOf<M>,
  on: T,
  start: { id?: string; thid: string; data: Data },
  ...[message]: Owed<M, T>
): Promise<Rec<M, Data>> {
  const row = findRow(protocol.states, role, null, on)
  if (!row) throw new Error(`the table of ${protocol.name} has no row that begins with '${on}'`)
  const data = protocol.model.parse(start.data)
  const record = {
    id: start.id ?? newId(),
    thid: start.thid,
    role,
    state: row[3],
    createdAt: new Date().toISOString(),
    ...data,
  } as Rec<M, Data>
  await insertRow(tx, {
    id: record.id,
    protocol: protocol.name,
    role,
    state: record.state,
    thid: record.thid,
    data: JSON.stringify(data),
    created_at: record.createdAt,
    updated_at: null,
    waits_since: waitsSince(protocol.states, record),
  })
  await owe(tx, protocol, record, row, message)
  return record
}

/**
 * Moves a record along the row that `on` selects, and promises what the row owes.
 *
 * The update names the state it leaves, so of two callers racing for one row one wins and the other gets the same
 * answer as if it had come late.
 *
 * @throws {Problem} the protocol's `wrongState`, naming the state it is in and those it may be in.
 */
export function advance<M extends Machine, Data extends object, T extends TriggerOf<M>>(
  tx: Tx,
  protocol: Protocol<M, Data>,
  record: Rec<M, Data>,
  on: T,
  change: Partial<Data>,
  ...[message]: Owed<M, T>
): Promise<Rec<M, Data>> {
  return move(tx, protocol, record, on, change, message)
}

/**
 * Moves a record along a row that the agent reports to itself, if it stands before one.
 *
 * Safe to call twice: the second report finds the record past the row and does nothing.
 */
export async function settle(
  tx: Tx,
  protocol: Protocol<any>,
  record: Rec,
  report: 'sent' | 'made',
  change: object = {},
  message?: Outgoing,
): Promise<Rec> {
  return findRow(protocol.states, record.role, record.state, report)
    ? move(tx, protocol, record, report, change, message)
    : record
}

/** Moves a record that has waited for too long to the end that its table has for it; one that has none waits for nothing any more. */
export async function breakOff(
  tx: Tx,
  protocol: Protocol<any>,
  record: Rec,
  change: object,
  message?: Outgoing,
): Promise<void> {
  const row = findExpiry(protocol.states, record.role, record.state)
  if (row) await move(tx, protocol, record, row[2], change, message)
  else await tx.updateTable('record').set({ waits_since: null }).where('id', '=', record.id).execute()
}

/** Makes sure that a record stands before a row for `on`, before any thinking goes into it. @throws {Problem} as `advance`. */
export function mustStandBefore<M extends Machine>(
  protocol: Protocol<M>,
  record: Rec,
  on: TriggerOf<M>,
): void {
  if (!findRow(protocol.states, record.role, record.state, on)) throw wrongState(protocol, record, on)
}

/**
 * Moves a record along the row that the other side's message selects.
 *
 * An answer proves that the question arrived: a record that still waits for `sent` is moved on first, because the far
 * side may well be faster than our own bookkeeping.
 */
export async function advanceByReply<M extends Machine, Data extends object, T extends TriggerOf<M>>(
  tx: Tx,
  protocol: Protocol<M, Data>,
  id: string,
  on: T,
  change: Partial<Data>,
  ...[message]: Owed<M, T>
): Promise<Rec<M, Data>> {
  const record = await settle(tx, protocol, await getRecord(tx, protocol, id), 'sent')
  return move(tx, protocol, record, on, change, message)
}

/** Changes fields of a record that are no step: no event, no message, the state stays. */
export async function amend(tx: Tx, protocol: Protocol<any>, record: Rec, change: object): Promise<void> {
  const data = JSON.stringify(protocol.model.parse({ ...record, ...change }))
  await tx.updateTable('record').set({ data }).where('id', '=', record.id).execute()
}

/** Changes fields of a record that are no step but that others want to hear of: its event, with the state as it was. */
export async function announce(tx: Tx, protocol: Protocol<any>, record: Rec, change: object): Promise<void> {
  await amend(tx, protocol, record, change)
  noteThread(tx, record.thid)
  await putEvent(tx, {
    type: protocol.states.event,
    subject: record.thid,
    data: protocol.toResource({ ...record, ...change }),
  })
}

async function move(
  tx: Tx,
  protocol: Protocol<any>,
  record: Rec,
  on: string,
  change: object,
  message?: Outgoing,
): Promise<Rec> {
  const row = findRow(protocol.states, record.role, record.state, on)
  if (!row) throw wrongState(protocol, record, on)
  const { updatedAt: _earlier, ...before } = record
  const next: Rec = { ...before, ...change, state: row[3], updatedAt: new Date().toISOString() }
  const { numAffectedRows } = await updateRow(tx, {
    id: record.id,
    from: record.state,
    state: next.state,
    data: JSON.stringify(protocol.model.parse(next)),
    updated_at: next.updatedAt!,
    waits_since: waitsSince(protocol.states, next),
  })
  if (numAffectedRows !== 1n) throw wrongState(protocol, record, on)
  await owe(tx, protocol, next, row, message)
  return next
}

/** The queue of a record's jobs. */
export function queueOf(recordId: string): string {
  return `record:${recordId}`
}

/** Writes down what a row owes: its event always, its message or its work when it has one. */
async function owe(
  tx: Tx,
  protocol: Protocol<any>,
  record: Rec,
  [, , , , then]: Row,
  message?: Outgoing,
): Promise<void> {
  noteThread(tx, record.thid)
  await putEvent(tx, { type: protocol.states.event, subject: record.thid, data: protocol.toResource(record) })
  if (!then) return
  const queue = queueOf(record.id)
  const about = { protocol: protocol.name, recordId: record.id }
  const name = then.slice('send '.length)
  if (then.startsWith('make ')) {
    await enqueue(tx, queue, { kind: 'task', ...about, task: name })
    return
  }
  if (!message) throw new Error(`'${then}' of ${protocol.name} came without its message`)
  const { type: _name, typeUri = protocol.messages[name]!, from, to, ...content } = message
  await enqueue(tx, queue, {
    kind: 'message',
    ...about,
    from,
    to,
    message: { type: typeUri, thid: record.thid, ...content },
  })
}

function wrongState(protocol: Protocol<any>, record: Rec, on: string): Problem {
  const allowed = statesBefore(protocol.states, record.role, on).join(' or ')
  const what = allowed
    ? `which is possible in state ${allowed}`
    : `which a record of role ${record.role} never does`
  return new Problem(
    protocol.problems.wrongState,
    `The record ${record.id} is in state ${record.state} and cannot do '${on}', ${what}.`,
  )
}
