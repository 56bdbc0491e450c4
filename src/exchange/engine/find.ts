/** Reading records: by id, by thread, or a page of them. */
import type { Selectable } from 'kysely'
import { Problem } from '../../foundation/problem.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { rememberRows } from '../../foundation/storage/memory.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { Machine, RoleOf } from '../../definitions/machine.ts'
import type { Protocol, Rec } from './protocol.ts'

type RecordRow = Selectable<WalletTables['record']>

const rowsById = prepared((db: Db, { id }: Pick<RecordRow, 'id'>) =>
  db.selectFrom('record').selectAll().where('id', '=', id),
)

const rowsByThread = prepared(
  (db: Db, { protocol, thid, role }: Pick<RecordRow, 'protocol' | 'thid' | 'role'>) =>
    db
      .selectFrom('record')
      .selectAll()
      .where('protocol', '=', protocol)
      .where('thid', '=', thid)
      .where('role', '=', role)
      .where('place', '=', 0),
)

/** A record and the name of its protocol. */
type Known = { protocol: string; record: Rec }

/** The records that are in use, by id. Callers share a record and must not change it. */
const records = rememberRows('records', async (db: Db, id): Promise<Known | undefined> => {
  const [row] = (await rowsById(db, { id })).rows
  return row && { protocol: row.protocol, record: toOwn(row, JSON.parse(row.data)) }
})

/** The ids of the first records of threads by protocol, role and thread, none of which changes. */
const threads = rememberRows('threads', async (db: Db, key) => {
  const [protocol, role, thid] = key.split(' ') as [string, string, string]
  const [row] = (await rowsByThread(db, { protocol, role, thid })).rows
  return row && { id: row.id }
})

const threadKey = (protocol: string, role: string, thid: string) => `${protocol} ${role} ${thid}`

/** Notes a record as a write has stored it. */
export function noteRecord(tx: Tx, { name }: Pick<Protocol, 'name'>, record: Rec): void {
  records.note(tx, record.id, { protocol: name, record })
  if (record.place === undefined)
    threads.note(tx, threadKey(name, record.role, record.thid), { id: record.id })
}

/** Notes that a record must be read again. */
export function forgetRecord(tx: Tx, { id }: Pick<Rec, 'id'>): void {
  records.note(tx, id)
}

/** Notes that a record was deleted. */
export function noteRemoved(tx: Tx, { name }: Pick<Protocol, 'name'>, record: Rec): void {
  forgetRecord(tx, record)
  if (record.place === undefined) threads.note(tx, threadKey(name, record.role, record.thid))
}

/** The record with an id. @throws {Problem} the protocol's `notFound` */
export async function getRecord<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  id: string,
): Promise<Rec<M, Data>> {
  const record = await findRecord(db, protocol, id)
  if (!record) throw new Problem(protocol.problems.notFound, `The requested record id does not exist: ${id}`)
  return record
}

/** The record with an id. */
export async function findRecord<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  id: string,
): Promise<Rec<M, Data> | undefined> {
  const read = async () => {
    const [row] = (await rowsById(db, { id })).rows
    return row?.protocol === protocol.name
      ? { protocol: row.protocol, record: toRecord(protocol, row) }
      : undefined
  }
  const known = await records.find(db, id, read)
  return known?.protocol === protocol.name ? (known.record as Rec<M, Data>) : undefined
}

/** The record of one role in a DIDComm thread. */
export async function findByThread<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  role: RoleOf<M>,
  thid: string,
): Promise<Rec<M, Data> | undefined> {
  const id = threads.recall(db, threadKey(protocol.name, role, thid))?.id
  const known = id === undefined ? undefined : await findRecord(db, protocol, id)
  if (known) return known
  const { rows } = await rowsByThread(db, { protocol: protocol.name, thid, role })
  return rows[0] && toRecord(protocol, rows[0])
}

/** The state and the fields of a record of any protocol. */
export async function findAny(db: Db, id: string): Promise<{ state: string } | undefined> {
  const known = records.recall(db, id)?.record
  if (known) return known
  const { rows } = await rowsById(db, { id })
  return rows[0] && toOwn(rows[0], JSON.parse(rows[0].data))
}

const rowsByShortId = prepared((db: Db, { shortId }: { shortId: string }) =>
  db.selectFrom('record').selectAll().where('short_id', '=', shortId),
)

/** The record that a short link belongs to; `protocols` are those by name. */
export async function findByShortId<Data extends object>(
  db: Db,
  protocols: Readonly<Record<string, Protocol<Machine, Data>>>,
  shortId: string,
): Promise<Rec<Machine, Data> | undefined> {
  const { rows } = await rowsByShortId(db, { shortId })
  const protocol = rows[0] && protocols[rows[0].protocol]
  return protocol && toRecord(protocol, rows[0]!)
}

export type RecordQuery = Paging & {
  thid?: string | undefined
  role?: string | undefined
  state?: string | undefined
}

/** A page of the matching records, oldest first, and the number of all matching records. */
export async function listRecords<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  { thid, role, state, ...paging }: RecordQuery,
): Promise<{ records: Rec<M, Data>[]; total: number }> {
  let matching = db.selectFrom('record').where('protocol', '=', protocol.name)
  if (thid !== undefined) matching = matching.where('thid', '=', thid)
  if (role !== undefined) matching = matching.where('role', '=', role)
  if (state !== undefined) matching = matching.where('state', 'in', state.split(','))
  const { rows, total } = await pageOf(matching.selectAll(), ['created_at', 'id'], paging)
  return { records: rows.map((row) => toRecord(protocol, row)), total }
}

function toRecord<M extends Machine, Data extends object>(
  protocol: Protocol<M, Data>,
  row: RecordRow,
): Rec<M, Data> {
  return toOwn(row, protocol.model.parse(JSON.parse(row.data))) as Rec<M, Data>
}

function toOwn(
  { id, thid, role, state, place, created_at: createdAt, updated_at: updatedAt }: RecordRow,
  data: object,
): Rec {
  return {
    ...data,
    id,
    thid,
    role,
    state,
    createdAt,
    ...(place > 0 && { place }),
    ...(updatedAt !== null && { updatedAt }),
  }
}

/** The protocol's own fields as JSON. They are parsed when they are read. */
export function toData({
  id: _id,
  thid: _thid,
  role: _role,
  state: _state,
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  place: _place,
  ...data
}: Rec): string {
  return JSON.stringify(data)
}
