/**
 * A node of the previous release works on while another one migrates the database: its prepared statements
 * have other columns then.
 */
import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import { openWallet } from '../../../../src/foundation/storage/postgres/databases.ts'
import { migrateDatabase, openPostgres } from '../../../../src/foundation/storage/postgres/open.ts'
import { postgresMigrations } from '../../../../src/foundation/storage/postgres/migrations.ts'
import { prepared } from '../../../../src/foundation/storage/prepared.ts'
import type { WalletTables } from '../../../../src/foundation/storage/wallet-tables.ts'
import { needsPostgres } from '../../../support/needs-postgres.ts'
import { openServer } from '../../../support/shared-postgres.ts'

needsPostgres()

const walletId = '11111111-1111-4111-8111-111111111111'
const connectionCount = 3

const findSetting = prepared((db: Kysely<WalletTables>, { name }: { name: string }) =>
  db.selectFrom('setting').selectAll().where('name', '=', name),
)

test('after a migration, one request gets 503, and all connections are replaced', async () => {
  const server = await openServer()
  const url = await server.createDatabase()
  const connections = await openPostgres({ url, connections: 6 + connectionCount, nodeName: 'test' })
  const db = openWallet(connections, walletId)
  const readAll = () => Promise.allSettled(Array.from({ length: connectionCount }, () => find()))
  const find = () => db.transaction().execute((tx) => findSetting(tx, { name: 'name' }))
  try {
    await readAll()
    expect(connections.wallets.totalCount).toBe(connectionCount)
    await server.asSuperuser(new URL(url).pathname.slice(1), 'alter table setting add column later text')
    await expect(find()).rejects.toMatchObject({ status: 503, retryAfter: 1 })
    for (const outcome of await readAll()) expect(outcome).toMatchObject({ status: 'fulfilled' })
  } finally {
    await connections.close()
  }
})

test('a migration that deadlocks with a transaction of another node is tried again', async () => {
  const server = await openServer()
  const url = await server.createDatabase()
  const connections = await openPostgres({ url, connections: 10, nodeName: 'test' })
  const database = new URL(url).pathname.slice(1)
  const other = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres', database })
  await other.connect()
  // So the server ends the migration, and not this transaction.
  await other.query(`set deadlock_timeout to '1h'`)
  let attempts = 0
  let others: Promise<unknown> | undefined
  const later = {
    async up(db: Kysely<unknown>) {
      attempts++
      await sql`alter table wallet add column later text`.execute(db)
      // The other node waits for this table, and this transaction for the other one's.
      others ??= other.query('select count(*) from wallet; commit')
      await sql`alter table entity add column later text`.execute(db)
    },
  }
  try {
    await other.query('begin; select count(*) from entity')
    await migrateDatabase(connections, { ...postgresMigrations, '999-later': later })
    await others
    expect(attempts).toBe(2)
  } finally {
    await other.end()
    await connections.close()
  }
})
