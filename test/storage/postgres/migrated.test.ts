/** A node of the previous release works on while another one migrates the database: its prepared statements have other columns then. */
import { type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { openWallet } from '../../../src/storage/postgres/databases.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { prepared } from '../../../src/storage/prepared.ts'
import type { WalletTables } from '../../../src/storage/wallet-tables.ts'
import { startPostgres } from '../../_postgres.ts'

const walletId = '11111111-1111-4111-8111-111111111111'
const connectionCount = 3

const findSetting = prepared((db: Kysely<WalletTables>, { name }: { name: string }) =>
  db.selectFrom('setting').selectAll().where('name', '=', name),
)

test('after a migration, one request gets 503, and all connections are replaced', async () => {
  await using server = await startPostgres()
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
