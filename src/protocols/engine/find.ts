/** Reading records: one by its id, one by its thread, a page of them. */
import { Problem } from '../../base/problem.ts'
import type { Db } from '../../storage/database.ts'
import { pageOf, type Paging } from '../../storage/page.ts'
import type { Machine, RoleOf } from './machine.ts'
import type { Protocol, Rec } from './record.ts'
import { rowsById, rowsByThread, type RecordRow } from './rows.ts'

/** The record with an id. @throws {Problem} the protocol's `notFound`. */
export async function getRecord<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  id: string,
): Promise<Rec<M, Data>> {
  const record = await findRecord(db, protocol, id)
  if (!record) throw new Problem(protocol.problems.notFound, `The requested record id does not exist: ${id}`)
  return record
}

/** The record with an id, if the protocol has one. */
export async function findRecord<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  id: string,
): Promise<Rec<M, Data> | undefined> {
  const { rows } = await rowsById(db, { protocol: protocol.name, id })
  return rows[0] && toRecord(protocol, rows[0])
}

/** The record of one side of a DIDComm thread, if there is one. */
export async function findByThread<M extends Machine, Data extends object>(
  db: Db,
  protocol: Protocol<M, Data>,
  role: RoleOf<M>,
  thid: string,
): Promise<Rec<M, Data> | undefined> {
  const { rows } = await rowsByThread(db, { protocol: protocol.name, thid, role })
  return rows[0] && toRecord(protocol, rows[0])
}

export type RecordQuery = Paging & {
  thid?: string | undefined
  role?: string | undefined
  state?: string | undefined
}

/** A page of the records that a query names, in the order of their creation, and how many there are in all. */
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
