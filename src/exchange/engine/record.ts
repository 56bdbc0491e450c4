/**
 * Protocol records: the shape that connections, credentials and presentations share, and the only functions
 * that write a state.
 *
 * A transition writes the new state, its event and its job in one transaction, so that a crash leaves all of
 * them or none.
 */
import type { Selectable } from 'kysely'
import { newId } from '../../foundation/id.ts'
import { inSpan } from '../../foundation/spans.ts'
import { appendEvent, type EventType } from '../../wallet/events/event.ts'
import { enqueue } from '../../wallet/outbox/job.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { noteChange, noteThread } from '../../foundation/storage/tx-context.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import { countTransition } from './count.ts'
import { forgetRecord, getRecord, noteRecord, toData } from './find.ts'
import { findRow, isPast } from '../../definitions/machine.ts'
import type { Machine, RoleOf, Row, TriggerOf } from '../../definitions/machine.ts'
import {
  waitsSince,
  wrongState,
  type MessageFor,
  type Outgoing,
  type Protocol,
  type Rec,
} from './protocol.ts'
import { transitionSpan } from './spans.ts'

type Step<On = string, Change = object> = { on: On; change: Change; message?: Outgoing | undefined }

type Beginning<M extends Machine, Data> = {
  id?: string
  thid: string
  data: Data
  next?: Step<TriggerOf<M>, Partial<Data>>
  shortId?: string
  place?: number
}

type RecordRow = Selectable<WalletTables['record']>

const insertRow = prepared(
  (
    db: Db,
    {
      id,
      protocol,
      role,
      state,
      thid,
      place,
      data,
      created_at,
      updated_at,
      waits_since,
      short_id,
    }: RecordRow,
  ) => {
    const fixed = { id, protocol, role, thid, place, created_at, short_id }
    return db.insertInto('record').values({ ...fixed, state, data, updated_at, waits_since })
  },
)

type Update = Pick<RecordRow, 'id' | 'state' | 'data' | 'updated_at' | 'waits_since'> & { from: string }

/** Changes nothing if the record is not in state `from`. */
const updateRow = prepared((db: Db, { id, from, state, data, updated_at, waits_since }: Update) =>
  db
    .updateTable('record')
    .set({ state, data, updated_at, waits_since })
    .where('id', '=', id)
    .where('state', '=', from),
)

/**
 * Creates a record by a row of the table that starts from nothing, and optionally makes a second transition
 * (`next`). `shortId` is the id of the short link to its own invitation or offer, `place` that among the
 * records of the same thread.
 */
export async function begin<M extends Machine, Data extends object, T extends TriggerOf<M>>(
  tx: Tx,
  protocol: Protocol<M, Data>,
  role: RoleOf<M>,
  on: T,
  { id = newId(), thid, data, next, shortId, place = 0 }: Beginning<M, Data>,
  ...[message]: MessageFor<M, T>
): Promise<Rec<M, Data>> {
  const row = findRow(protocol, role, null, on)
  if (!row) throw new Error(`the table of ${protocol.name} has no row that begins with '${on}'`)
  const created = { state: row[3], createdAt: new Date().toISOString() }
  const first: Rec = { ...data, id, thid, role, ...created, ...(place > 0 && { place }) }
  const second = next && follow(protocol, first, next)
  const record = second?.record ?? first
  await insertRow(tx, {
    id,
    protocol: protocol.name,
    role,
    state: record.state,
    thid,
    data: toData(record),
    created_at: record.createdAt,
    updated_at: record.updatedAt ?? null,
    waits_since: waitsSince(protocol, record),
    short_id: shortId ?? null,
    place,
  })
  noteRecord(tx, protocol, record)
  await emit(tx, protocol, first, row, message)
  if (second) await emit(tx, protocol, second.record, second.row, next?.message)
  return record as Rec<M, Data>
}

/**
 * Makes the transition that `on` selects: writes the new state and `change`, its event and its job.
 *
 * @throws {Problem} the protocol's `wrongState`, if the record is in another state, in the table or meanwhile
 * on disk.
 */
export function advance<M extends Machine, Data extends object, T extends TriggerOf<M>>(
  tx: Tx,
  protocol: Protocol<M, Data>,
  record: Rec<M, Data>,
  on: T,
  change: Partial<Data>,
  ...[message]: MessageFor<M, T>
): Promise<Rec<M, Data>> {
  return move(tx, protocol, record, [{ on, change, message }])
}

/**
 * Makes a transition, unless the record has passed it already: a second call changes nothing.
 *
 * @throws {Problem} like `advance`; 404
 */
export async function advanceOnce<M extends Machine, Data extends object, T extends TriggerOf<M>>(
  tx: Tx,
  protocol: Protocol<M, Data>,
  id: string,
  on: T,
  change: Partial<Data>,
  ...message: MessageFor<M, T>
): Promise<Rec<M, Data>> {
  const record = await getRecord(tx, protocol, id)
  return isPast(protocol, record.role, on, record.state)
    ? record
    : advance(tx, protocol, record, on, change, ...message)
}

/** Makes the transition `sent` if the table has one from the record's state. A second call changes nothing. */
export async function confirmSent(tx: Tx, protocol: Protocol<any>, record: Rec): Promise<Rec> {
  return isUnconfirmed(protocol, record) ? move(tx, protocol, record, [sent]) : record
}

/**
 * Makes the transition that a message of the other side selects.
 *
 * The answer proves that the question arrived, so a record that still waits for `sent` makes that transition
 * first: the answer may come before the worker stores that the question was delivered.
 */
export async function advanceByReply<M extends Machine, Data extends object, T extends TriggerOf<M>>(
  tx: Tx,
  protocol: Protocol<M, Data>,
  id: string,
  on: T,
  change: Partial<Data>,
  ...[message]: MessageFor<M, T>
): Promise<Rec<M, Data>> {
  const record = await getRecord(tx, protocol, id)
  const reply = { on, change, message }
  return move(tx, protocol, record, isUnconfirmed(protocol, record) ? [sent, reply] : [reply])
}

/** Checks, before expensive work, that a transition is possible. @throws {Problem} like `advance` */
export function requireTransition<M extends Machine>(
  protocol: Protocol<M>,
  record: Rec,
  on: TriggerOf<M>,
): void {
  if (!findRow(protocol, record.role, record.state, on)) throw wrongState(protocol, record, on)
}

/** Changes fields of a record without a transition: no event, same state. */
export async function updateData(tx: Tx, record: Rec, change: object): Promise<void> {
  const data = toData({ ...record, ...change })
  await tx.updateTable('record').set({ data }).where('id', '=', record.id).execute()
  forgetRecord(tx, record)
}

/** Changes fields of a record without a transition, and emits an event with the same state. */
export async function updateWithEvent(
  tx: Tx,
  protocol: Protocol<any>,
  record: Rec,
  change: object,
): Promise<void> {
  await updateData(tx, record, change)
  await emitEvent(tx, protocol, { ...record, ...change })
}

/** The queue of a record's jobs. */
export function queueOf(recordId: string): string {
  return `record:${recordId}`
}

const sent: Step = { on: 'sent', change: {} }

function isUnconfirmed(protocol: Machine, { role, state }: Rec): boolean {
  return findRow(protocol, role, state, 'sent') !== undefined
}

/** Makes transitions one after the other, and writes the record once. */
async function move(tx: Tx, protocol: Protocol<any>, record: Rec, steps: Step[]): Promise<Rec> {
  const passed: { record: Rec; row: Row }[] = []
  for (const each of steps) passed.push(follow(protocol, passed.at(-1)?.record ?? record, each))
  const { record: next } = passed.at(-1)!
  const { numAffectedRows } = await updateRow(tx, {
    id: record.id,
    from: record.state,
    state: next.state,
    data: toData(next),
    updated_at: next.updatedAt!,
    waits_since: waitsSince(protocol, next),
  })
  if (numAffectedRows !== 1n) throw wrongState(protocol, record, steps.at(-1)!.on)
  noteRecord(tx, protocol, next)
  noteChange(tx, `record ${record.id}`)
  for (const [index, each] of passed.entries())
    await emit(tx, protocol, each.record, each.row, steps[index]!.message)
  return next
}

/** The record after a transition. */
function follow(protocol: Protocol<any>, record: Rec, { on, change }: Step): { record: Rec; row: Row } {
  const row = findRow(protocol, record.role, record.state, on)
  if (!row) throw wrongState(protocol, record, on)
  return { record: { ...record, ...change, state: row[3], updatedAt: new Date().toISOString() }, row }
}

async function emitEvent(tx: Tx, protocol: Protocol<any>, record: Rec): Promise<void> {
  noteThread(tx, record.thid)
  const event = { subject: record.thid, data: protocol.toResource(record) }
  await appendEvent(tx, { type: protocol.event as EventType, ...event })
}

/** Writes an event with the record, and the job that the transition's row names in `then`. */
function emit(tx: Tx, protocol: Protocol<any>, record: Rec, row: Row, message?: Outgoing): Promise<unknown> {
  return inSpan(
    () => transitionSpan(protocol, row),
    async () => {
      countTransition(tx, protocol, row)
      await emitEvent(tx, protocol, record)
      return row[4] && addJob(tx, protocol, record, row[4], message)
    },
  )
}

function addJob(
  tx: Tx,
  protocol: Protocol<any>,
  record: Rec,
  then: NonNullable<Row[4]>,
  message?: Outgoing,
): Promise<string> {
  const about = { protocol: protocol.name, recordId: record.id }
  const queue = queueOf(record.id)
  const name = then.slice('send '.length)
  if (then.startsWith('make ')) return enqueue(tx, queue, { kind: 'task', ...about, task: name })
  if (!message) throw new Error(`'${then}' of ${protocol.name} came without its message`)
  const { type: _name, typeUri = protocol.messages[name]!, from, to, ...content } = message
  const sending = { type: typeUri, thid: record.thid, ...content }
  return enqueue(tx, queue, { kind: 'message', ...about, from, to, message: sending })
}
