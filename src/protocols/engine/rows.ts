/** The rows of records: the statements that every step of every flow runs. */
import type { Selectable } from 'kysely'
import type { Db } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { WalletTables } from '../../storage/wallet-tables.ts'

export type RecordRow = Selectable<WalletTables['record']>

export const rowsById = prepared((db: Db, { protocol, id }: Pick<RecordRow, 'protocol' | 'id'>) =>
  db.selectFrom('record').selectAll().where('protocol', '=', protocol).where('id', '=', id),
)

export const rowsByThread = prepared(
  (db: Db, { protocol, thid, role }: Pick<RecordRow, 'protocol' | 'thid' | 'role'>) =>
    db
      .selectFrom('record')
      .selectAll()
      .where('protocol', '=', protocol)
      .where('thid', '=', thid)
      .where('role', '=', role),
)

export const insertRow = prepared(
  (
    db: Db,
    {
      id,
      protocol,
      role,
      state,
      thid,
      data,
      created_at,
      updated_at,
      waits_since,
    }: Omit<RecordRow, 'sequence'>,
  ) =>
    db
      .insertInto('record')
      .values({ id, protocol, role, state, thid, data, created_at, updated_at, waits_since }),
)

/** Changes nothing when the record is not in the state `from`. */
export const updateRow = prepared(
  (
    db: Db,
    {
      id,
      from,
      state,
      data,
      updated_at,
      waits_since,
    }: Pick<RecordRow, 'id' | 'state' | 'data' | 'updated_at' | 'waits_since'> & { from: string },
  ) =>
    db
      .updateTable('record')
      .set({ state, data, updated_at, waits_since })
      .where('id', '=', id)
      .where('state', '=', from),
)
