/**
 * The tables and columns of the SQLite files and of PostgreSQL agree, so that rows can be copied from one to
 * the other.
 */
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Connections } from '../../../../src/foundation/storage/postgres/connect.ts'
import { openPostgres } from '../../../../src/foundation/storage/postgres/open.ts'
import {
  openAgentDb,
  openAuditDb,
  openMediatorDb,
  openWalletDb,
} from '../../../../src/foundation/storage/database.ts'
import { openLedgerFile } from '../../../../src/did/ledger/operation-table.ts'
import { newFolder } from '../../../support/folder.ts'
import { needsPostgres } from '../../../support/needs-postgres.ts'
import { openServer } from '../../../support/shared-postgres.ts'

needsPostgres()

let connections: Connections
beforeAll(async () => {
  const url = await (await openServer()).createDatabase()
  connections = await openPostgres({ url, connections: 10, nodeName: 'test' })
})
afterAll(() => connections.close())

/** The names of columns, in the form `table.column`. */
async function inSqlite(db: Kysely<any>): Promise<string[]> {
  onTestFinished(() => db.destroy())
  const { rows } = await sql<{ name: string }>`
    select tables.name || '.' || columns.name as name
    from sqlite_master as tables, pragma_table_info(tables.name) as columns
    where tables.type = 'table' and tables.name not like 'sqlite_%' and tables.name not like 'kysely_%'`.execute(
    db,
  )
  return rows.map(({ name }) => name)
}

/** The columns of tables that have `wallet_id` for row-level security, or of the others. */
async function inPostgres(areOfWallets: boolean): Promise<string[]> {
  const { rows } = await connections.nodes.query<{ name: string }>(
    `select relname || '.' || attname as name from pg_attribute join pg_class on attrelid = pg_class.oid
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and attnum > 0 and not attisdropped
      and relrowsecurity = $1 and relname not like 'kysely_%' and relname not in ('node', 'shard', 'cache_version')`,
    [areOfWallets],
  )
  return rows.map(({ name }) => name).toSorted()
}

test('the tables of wallets', async () => {
  const columns = await inSqlite(await openWalletDb(':memory:'))
  const tables = new Set(columns.map((name) => name.split('.')[0]!))
  // The rowid of a table is implicit in SQLite.
  const more = [...[...tables].map((table) => `${table}.wallet_id`), 'inbox.rowid']
  expect(await inPostgres(true)).toEqual([...columns, ...more].toSorted())
})

test('the tables of the agent, the audit log, the mediator and the ledger', async () => {
  const named = (columns: readonly string[], table: string, name: string) =>
    columns.map((column) => column.replace(new RegExp(`^${table}\\.`), `${name}.`))
  const columns = [
    ...named(await inSqlite(await openAgentDb(':memory:')), 'setting', 'agent_setting'),
    ...(await inSqlite(await openAuditDb(':memory:'))),
    ...named(await inSqlite(await openMediatorDb(':memory:')), 'message', 'mediator_message'),
    ...(await inSqlite(await openLedgerFile(join(newFolder(), 'vdr.db')))),
  ]
  expect(await inPostgres(false)).toEqual(columns.toSorted())
})
