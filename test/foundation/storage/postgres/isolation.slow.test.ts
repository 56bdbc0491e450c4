/**
 * PostgreSQL separates the wallets: each transaction names its wallet, and row-level security hides the rows
 * of the others.
 */
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Connections, createConnections } from '../../../../src/foundation/storage/postgres/connect.ts'
import { openWallet } from '../../../../src/foundation/storage/postgres/databases.ts'
import { openPostgres } from '../../../../src/foundation/storage/postgres/open.ts'
import { findUnprotected } from '../../../../src/foundation/storage/postgres/server.ts'
import {
  copiedAgentTables,
  copiedAuditTables,
  copiedLedgerTables,
  copiedMediatorTables,
} from '../../../../src/foundation/storage/postgres/shared-rows.ts'
import { walletTables } from '../../../../src/foundation/storage/postgres/wallet-rows.ts'
import { needsPostgres } from '../../../support/needs-postgres.ts'
import type { Server } from '../../../support/postgres.ts'
import { openServer } from '../../../support/shared-postgres.ts'

needsPostgres()

const [alice, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']

let server: Server
let url: string
let connections: Connections

beforeAll(async () => {
  server = await openServer()
  url = await server.createDatabase()
  connections = await openPostgres({ url, connections: 10, nodeName: 'test' })
})

afterAll(() => connections.close())

const insertSetting = (id: string, value: string) =>
  openWallet(connections, id).insertInto('setting').values({ name: 'seed', value }).execute()

const readSettings = (id: string) =>
  openWallet(connections, id).selectFrom('setting').select('value').execute()

test('a wallet reads and changes its own rows only', async () => {
  await insertSetting(alice, 'of alice')
  await insertSetting(bob, 'of bob')
  expect(await readSettings(alice)).toEqual([{ value: 'of alice' }])
  const ofBob = openWallet(connections, bob)
  await ofBob.updateTable('setting').set({ value: 'changed' }).execute()
  expect(await readSettings(alice)).toEqual([{ value: 'of alice' }])
  await ofBob.deleteFrom('setting').execute()
  expect(await readSettings(alice)).toEqual([{ value: 'of alice' }])
  expect(await readSettings(bob)).toEqual([])
})

test('every other table is one of nodes or migrations, or in the lists that backups copy', async () => {
  const { rows } = await connections.nodes.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema()`,
  )
  const shared = [copiedAgentTables, copiedAuditTables, copiedMediatorTables, copiedLedgerTables].flat()
  const known = shared.map(({ name, postgresName = name }) => postgresName)
  const own = ['node', 'shard', 'cache_version', 'kysely_migration', 'kysely_migration_lock']
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...known, ...own, ...walletTables].toSorted())
})

describe('every table of wallets', () => {
  test('is in the list of tables, with forced row-level security', async () => {
    const { rows } = await connections.nodes.query<{ name: string; forced: boolean }>(
      `select relname as name, relrowsecurity and relforcerowsecurity as forced from pg_class
      join pg_attribute on attrelid = pg_class.oid and attname = 'wallet_id' and atttypid = 'uuid'::regtype
      where relkind = 'r' order by relname`,
    )
    expect(rows.map(({ name }) => name)).toEqual(walletTables.toSorted())
    expect(rows.filter(({ forced }) => !forced)).toEqual([])
  })

  test('has the wallet first in each index', async () => {
    const { rows } = await connections.nodes.query(
      `select indexrelid::regclass::text as name from pg_index
      join pg_attribute on attrelid = indrelid and attname = 'wallet_id' and atttypid = 'uuid'::regtype
      where indkey[0] <> attnum`,
    )
    expect(rows).toEqual([])
  })

  test.each(walletTables)('%s: without a wallet, no statement reads or writes', async (table) => {
    const client = new pg.Client(url)
    await client.connect()
    try {
      await expect(client.query(`select count(*) from ${table}`)).rejects.toThrow('app.wallet')
      await expect(client.query(`delete from ${table}`)).rejects.toThrow('app.wallet')
    } finally {
      await client.end()
    }
  })
})

test('a transaction leaves no wallet to its connection', async () => {
  const client = await connections.shared.connect()
  try {
    await client.query('begin')
    await client.query(`select set_config('app.wallet', $1, true)`, [alice])
    await client.query('commit')
    await expect(client.query('select count(*) from setting')).rejects.toThrow(
      /invalid input syntax for type uuid: ""/,
    )
  } finally {
    client.release()
  }
})

test('a row cannot be given to another wallet', async () => {
  const write = openWallet(connections, alice)
    .transaction()
    .execute((tx) =>
      tx
        .updateTable('setting')
        .set({ wallet_id: bob } as object)
        .execute(),
    )
  await expect(write).rejects.toThrow('row-level security')
})

describe('the start is refused in one sentence', () => {
  const open = (given: string) => openPostgres({ url: given, connections: 4, nodeName: 'test' })

  test.each(['superuser', 'bypassrls'])('for a role with %s', async (right) => {
    const database = new URL(url).pathname.slice(1)
    await server.asSuperuser(database, `drop role if exists ruler; create role ruler login ${right}`)
    await expect(open(url.replace(/\/\/.*@/, '//ruler@'))).rejects.toThrow(
      'The role ruler of AGENT_DATABASE_URL is a superuser or bypasses row-level security, which separates the tenants: use a role with NOSUPERUSER NOBYPASSRLS that owns the database.',
    )
    await server.asSuperuser(database, 'drop role ruler')
  })

  test('for a role that may not create tables', async () => {
    const database = new URL(url).pathname.slice(1)
    await server.asSuperuser(database, 'drop role if exists guest; create role guest login')
    await expect(open(url.replace(/\/\/.*@/, '//guest@'))).rejects.toThrow(
      'may not create tables in its schema',
    )
    await server.asSuperuser(database, 'drop role guest')
  })

  test('for a database of a newer release', async () => {
    const other = await server.createDatabase()
    await (await open(other)).close()
    const name = new URL(other).pathname.slice(1)
    await server.asSuperuser(name, `insert into kysely_migration values ('999-next', 'now')`)
    await expect(open(other)).rejects.toThrow(
      'A newer release of identity-agent migrated the database (this release does not know 999-next); nothing was changed. Start that release.',
    )
  })

  test('for a server that is not there, without the password', async () => {
    const failed = await open('postgres://me:hidden@127.0.0.1:1/agent').catch(
      (error: unknown) => error as Error,
    )
    expect((failed as Error).message).toBe(
      'The database of AGENT_DATABASE_URL (127.0.0.1:1/agent) cannot be used: nothing listens there. Check that the server runs, and the address, role and password.',
    )
  })
})

describe('a table whose row-level security was changed', () => {
  test.each([
    'alter table setting disable row level security',
    'alter table setting no force row level security',
    'drop policy own_wallet on setting',
    'create policy all_rows on setting using (true)',
    'alter policy own_wallet on setting using (true)',
    'alter policy own_wallet on setting with check (true)',
  ])('is refused at the start, and the hint repairs it: %s', async (change) => {
    const given = await server.createDatabase()
    const database = new URL(given).pathname.slice(1)
    const open = () => openPostgres({ url: given, connections: 8, nodeName: 'test' })
    await (await open()).close()
    await server.asSuperuser(database, change)
    await expect(open()).rejects.toThrow(
      'Row-level security does not separate the tenants in the table setting: it is off, not forced, or has another policy.',
    )
    const role = await createConnections(given, 8, 'test')
    const fault = await findUnprotected(role.nodes)
    await role.close()
    await server.asSuperuser(
      database,
      `${fault!.hint}; drop policy if exists all_rows on setting`.replace(/ +--[^;]*/, ''),
    )
    await (await open()).close()
  })
})

test('a commit waits for the disk although synchronous_commit is off for the role', async () => {
  const given = await server.createDatabase()
  const { username } = new URL(given)
  const read = async () => {
    const opened = await openPostgres({ url: given, connections: 8, nodeName: 'test' })
    try {
      const { rows } = await sql<{
        value: string
      }>`select current_setting('synchronous_commit') as value`.execute(openWallet(opened, alice))
      const [plain] = (
        await opened.nodes.query<{ value: string }>(`select current_setting('synchronous_commit') as value`)
      ).rows
      return [plain!.value, rows[0]!.value]
    } finally {
      await opened.close()
    }
  }
  for (const [set, used] of [
    ['off', 'on'],
    ['local', 'local'],
    ['remote_apply', 'remote_apply'],
  ] as const) {
    await server.asSuperuser('postgres', `alter role ${username} set synchronous_commit = ${set}`)
    expect(await read()).toEqual([set, used])
  }
})
