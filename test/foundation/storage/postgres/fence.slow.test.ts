/** Fencing: a node that has lost a shard cannot write to its wallets. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Connections } from '../../../../src/foundation/storage/postgres/connect.ts'
import { openMediator, openWallet } from '../../../../src/foundation/storage/postgres/databases.ts'
import { openPostgres } from '../../../../src/foundation/storage/postgres/open.ts'
import { NotOwnerError } from '../../../../src/foundation/storage/not-owner-error.ts'
import { mediatorId } from '../../../../src/cluster/ownership.ts'
import { createWrite } from '../../../../src/exchange/mediator/writes.ts'
import { needsPostgres } from '../../../support/needs-postgres.ts'
import type { Server } from '../../../support/postgres.ts'
import { openServer } from '../../../support/shared-postgres.ts'
import { takeAll } from './_claims.ts'

needsPostgres()

const walletId = '11111111-1111-4111-8111-111111111111'

let server: Server
let connections: Connections

beforeAll(async () => {
  server = await openServer()
  connections = await openPostgres({ url: await server.createDatabase(), connections: 10, nodeName: 'test' })
  await openWallet(connections, walletId)
    .insertInto('setting')
    .values({ name: 'counter', value: '0' })
    .execute()
})

afterAll(() => connections.close())

const read = async () => {
  const db = openWallet(connections, walletId)
  return Number((await db.selectFrom('setting').select('value').executeTakeFirstOrThrow()).value)
}

type Owner = Awaited<ReturnType<typeof takeAll>>

const write = (owner: Owner, value: number) =>
  openWallet(connections, walletId, () => owner.claimOf(walletId))
    .transaction()
    .execute((tx) =>
      tx
        .updateTable('setting')
        .set({ value: String(value) })
        .execute(),
    )

/**
 * A node reads, another one takes over and writes, and the first one writes what it has computed from its
 * read.
 */
async function overtake() {
  const first = await takeAll(connections.nodes)
  const value = await read()
  const second = await takeAll(connections.nodes)
  await write(second, value + 1)
  const late = await write(first, value + 100).catch((error: unknown) => error)
  return { late, lost: (await read()) !== value + 1 }
}

test('the write of a node that was overtaken fails, and nothing is lost', async () => {
  const { late, lost } = await overtake()
  expect(late).toBeInstanceOf(NotOwnerError)
  expect(lost).toBe(false)
})

test('without the check, the write of the second node is lost', async () => {
  const other = await openPostgres({
    url: await server.createDatabase(),
    connections: 4,
    nodeName: 'unfenced',
  })
  const fenced = connections
  try {
    connections = other
    await openWallet(other, walletId).insertInto('setting').values({ name: 'counter', value: '0' }).execute()
    await other.nodes.query(
      'create or replace function fence(owned_shard integer, owner uuid, owned_epoch bigint) returns void language sql as $$ $$',
    )
    expect((await overtake()).lost).toBe(true)
  } finally {
    connections = fenced
    await other.close()
  }
})

test('the mediator of a node that was overtaken writes nothing', async () => {
  const open = async () => {
    const owner = await takeAll(connections.nodes)
    const contents = openMediator(connections, mediatorId, () => owner.claimOf(mediatorId))
    const write = createWrite(contents)
    return {
      store: (digest: string) => write((tx) => tx.insertInto('seen').values({ digest }).execute()),
      list: () => contents.db.selectFrom('seen').select('digest').orderBy('sequence').execute(),
    }
  }
  const first = await open()
  await first.store('a')
  const second = await open()
  await second.store('b')
  await expect(first.store('c')).rejects.toBeInstanceOf(NotOwnerError)
  expect(await second.list()).toEqual([{ digest: 'a' }, { digest: 'b' }])
})

test('a take-over waits for a transaction that has begun', async () => {
  const first = await takeAll(connections.nodes)
  const steps: string[] = []
  let takeOver: Promise<unknown> | undefined
  await openWallet(connections, walletId, () => first.claimOf(walletId))
    .transaction()
    .execute(async (tx) => {
      takeOver = takeAll(connections.nodes).then(() => steps.push('taken over'))
      await tx.updateTable('setting').set({ value: '7' }).execute()
      steps.push('written')
    })
  steps.push('committed')
  await takeOver
  expect(steps).toEqual(['written', 'committed', 'taken over'])
})

test('the server ends a transaction that a paused node has left open, so that the take-over does not wait', async () => {
  const first = await takeAll(connections.nodes)
  const paused = openWallet(connections, walletId, () => first.claimOf(walletId))
    .transaction()
    .execute(async (tx) => {
      await tx.updateTable('setting').set({ value: '666' }).execute()
      await takeAll(connections.nodes)
    })
  await expect(paused).rejects.toMatchObject({ status: 503 })
  expect(await read()).toBe(7)
})
