/** Reading records: by id, by thread, or a page of them. */
import type { Selectable } from 'kysely'
import { Problem } from '../../foundation/problem.ts'
import type { Db } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { Machine, RoleOf } from '../../definitions/machine.ts'
import type { Protocol, Rec } from './protocol.ts'

type RecordRow = Selectable<WalletTables['record']>

const rowsById = prepared((db: Db, { protocol, id }: Pick<RecordRow, 'protocol' | 'id'>) =>
  db.selectFrom('record').selectAll().where('protocol', '=', protocol).where('id', '=', id),
)

const rowsByThread = prepared(
  (db: Db, { protocol, thid, role }: Pick<RecordRow, 'protocol' | 'thid' | 'role'>) =>
    db
      .selectFrom('record')
      .selectAll()
      .where('protocol', '=', protocol)
      .where('thid', '=', thid)
      .where('role', '=', role),
)

/** The record with an id. @throws {Problem} the protocol's `notFound` */
export async function getRecord<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  id: string,
): Promise<Rec<M, Data>> {
  const { rows } = await rowsById(db, { protocol: protocol.name, id })
  if (!rows[0]) throw new Problem(protocol.problems.notFound, `The requested record id does not exist: ${id}`)
  return toRecord(protocol, rows[0])
}

/** The record with an id. */
export async function findRecord<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  id: string,
): Promise<Rec<M, Data> | undefined> {
  const { rows } = await rowsById(db, { protocol: protocol.name, id })
  return rows[0] && toRecord(protocol, rows[0])
}

/** The record of one role in a DIDComm thread. */
export async function findByThread<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  role: RoleOf<M>,
  thid: string,
): Promise<Rec<M, Data> | undefined> {
  const { rows } = await rowsByThread(db, { protocol: protocol.name, thid, role })
  return rows[0] && toRecord(protocol, rows[0])
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
  if (state !== undefined) matching = matching.where('state', '=', state)
  const { rows, total } = await pageOf(matching.selectAll(), ['created_at', 'id'], paging)
  return { records: rows.map((row) => toRecord(protocol, row)), total }
}

function toRecord<M extends Machine, Data extends object>(
  protocol: Protocol<M, Data>,
  row: RecordRow,
): Rec<M, Data> {
  const { id, thid, role, state, created_at: createdAt, updated_at: updatedAt } = row
  const data = protocol.model.parse(JSON.parse(row.data))
  return { ...data, id, thid, role, state, createdAt, ...(updatedAt !== null && { updatedAt }) }
}

/** The protocol's own fields as JSON. They are parsed when they are read. */
export function toData({
  id: _id,
  thid: _thid,
  role: _role,
  state: _state,
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  ...data
}: Rec): string {
  return JSON.stringify(data)
}
