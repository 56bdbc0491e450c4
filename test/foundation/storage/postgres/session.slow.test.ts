/** A connection keeps its settings and its wallet, unless it is a pooler's. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openWallet } from '../../../../src/foundation/storage/postgres/databases.ts'
import { openPostgres } from '../../../../src/foundation/storage/postgres/open.ts'
import { needsPostgres } from '../../../support/needs-postgres.ts'
import { openServer } from '../../../support/shared-postgres.ts'

needsPostgres()

const [alice, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']

/** So few that the wallets share one connection. */
const few = 7

let url: string
let connections: Awaited<ReturnType<typeof openPostgres>>

beforeAll(async () => {
  url = await (await openServer()).createDatabase()
  connections = await openPostgres({ url, connections: few, nodeName: 'test' })
  for (const id of [alice, bob])
    await openWallet(connections, id).insertInto('setting').values({ name: 'seed', value: id }).execute()
})

afterAll(() => connections.close())

type Open = typeof connections

const seedOf = async (opened: Open, id: string) =>
  (await openWallet(opened, id).selectFrom('setting').select('value').execute()).map(({ value }) => value)

/** What a connection of wallets keeps between transactions. */
async function keptBy({ wallets }: Open) {
  const { rows } = await wallets.query(
    `select current_setting('app.wallet', true) as wallet, current_setting('lock_timeout') as lock,
      current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle`,
  )
  return rows[0]
}

test('reads of two wallets over one connection never get rows of the other one', async () => {
  const reads = Array.from({ length: 200 }, (_, n) => (n % 3 === 0 ? alice : bob))
  expect(await Promise.all(reads.map((id) => seedOf(connections, id)))).toEqual(reads.map((id) => [id]))
  const { rows } = await connections.wallets.query(
    'select count(distinct pid) from pg_stat_activity where pid = pg_backend_pid()',
  )
  expect(rows).toEqual([{ count: 1 }])
})

test('a transaction of one wallet between reads of another one changes no wallet', async () => {
  expect(await seedOf(connections, alice)).toEqual([alice])
  await openWallet(connections, bob)
    .transaction()
    .execute(async (tx) => {
      expect(await tx.selectFrom('setting').select('value').execute()).toEqual([{ value: bob }])
    })
  expect(await seedOf(connections, alice)).toEqual([alice])
  const lost = openWallet(connections, bob)
    .transaction()
    .execute(() => Promise.reject(new Error('a fault of the test')))
  await expect(lost).rejects.toThrow('a fault of the test')
  expect(await seedOf(connections, alice)).toEqual([alice])
})

test('a read that fails leaves the connection to no wallet, and the next one names its own', async () => {
  await expect(seedOf(connections, 'not an id')).rejects.toThrow(/uuid/)
  expect(await seedOf(connections, alice)).toEqual([alice])
})

test('a query in SQL that writes outside of a transaction is refused', async () => {
  await expect(sql`update setting set value = ''`.execute(openWallet(connections, alice))).rejects.toThrow()
  expect(await seedOf(connections, alice)).toEqual([alice])
})

test('a connection to the server keeps its settings', async () => {
  await seedOf(connections, alice)
  expect(await keptBy(connections)).toEqual({ wallet: alice, lock: '5s', statement: '30s', idle: '3s' })
})

test('a connection to a pooler keeps nothing, because the next transaction may be that of another client', async () => {
  const pooled = new URL(url)
  pooled.port = String(await openPooler(Number(pooled.port)))
  const opened = await openPostgres({ url: String(pooled), connections: few, nodeName: 'test' })
  onTestFinished(() => opened.close())
  const reads = [alice, bob, alice, alice, bob]
  expect(await Promise.all(reads.map((id) => seedOf(opened, id)))).toEqual(reads.map((id) => [id]))
  expect(await keptBy(opened)).toMatchObject({ lock: '0', statement: '0', idle: '0' })
  expect((await keptBy(opened)).wallet || null).toBeNull()
})

/**
 * A server that tells its clients process ids that it has made up, as poolers do, in the message
 * `BackendKeyData`: its type, length, process id, and key.
 */
async function openPooler(port: number): Promise<number> {
  const start = Buffer.from([0x4b, 0, 0, 0, 12])
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    near.pipe(far)
    far.on('data', (chunk) => {
      const at = chunk.indexOf(start)
      if (at !== -1) chunk.writeInt32BE(chunk.readInt32BE(at + 5) + 1, at + 5)
      near.write(chunk)
    })
    far.on('end', () => near.end())
    for (const socket of [near, far]) socket.on('error', () => (near.destroy(), far.destroy()))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}
