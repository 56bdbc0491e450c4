/** The nodes as an operator sees them: `agent node list`, `agent node drain`, and readiness. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../daemon/client/client.ts'
import { adminOf, adminToken, type Tenant } from '../support/api.ts'
import { newUser } from '../commands/_cli.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import { until } from '../support/tenants.ts'
import { startNodes, type Nodes } from './_nodes.ts'

needsPostgres()

let nodes: Nodes
// A request waits for a take-over as long as a lease, which no pause of a busy machine may exceed.
beforeAll(async () => void (nodes = await startNodes(['a', 'b'], { AGENT_LEASE_SECONDS: '10' })))
afterAll(() => nodes[Symbol.asyncDispose]())

const ready = async (index: number) => {
  const response = await fetch(`${nodes.daemons[index]!.url}/_system/ready`)
  return { status: response.status, body: (await response.json()) as { reasons: { check: string }[] } }
}

const isReady = (index: number) =>
  until(
    'ready',
    () => ready(index),
    ({ status }) => status === 200,
  )

test('a node is drained and taken back while a tenant works', async () => {
  using user = newUser()
  const operator = user.as({ AGENT_URL: nodes.daemons[0]!.url, AGENT_ADMIN_KEY: adminToken })
  type Listed = { name: string; state: string; shards: number; answers: boolean }
  const listed = async () => ((await operator.json`node list`) as { contents: Listed[] }).contents
  const sharesOf = async () => (await listed()).map(({ name, state, shards }) => [name, state, shards])
  const tenant = await nodes.newTenant('tenant')
  await Promise.all([isReady(0), isReady(1)])
  await until('equal shares', sharesOf, (shares) => shares.every(([, , count]) => count === 128))
  expect((await listed()).map(({ answers }) => answers)).toEqual([true, false])

  expect(await operator.json`node drain b`).toMatchObject({ name: 'b', state: 'draining' })
  await until('all shards of a', sharesOf, (shares) => shares[0]![2] === 256)
  expect(await sharesOf()).toEqual([
    ['a', 'running', 256],
    ['b', 'draining', 0],
  ])
  expect((await ready(1)).body.reasons.map(({ check }) => check)).toEqual(['node'])
  for (let count = 0; count < 4; count++) await tenant.call('POST /connections', { body: { label: 'label' } })

  expect(await operator.json`node drain b --undo`).toMatchObject({ name: 'b', state: 'running' })
  await until('equal shares', sharesOf, (shares) => shares.every(([, , share]) => share === 128))
  await isReady(1)
  expect((await tenant.call('GET /connections')).contents).toHaveLength(4)
  expect((await operator.run`node drain z`).err).toContain('There is no node z.')
})

test('each POST is answered while shards move to another node and back', async () => {
  const [first, second] = nodes.daemons
  const tenants = await Promise.all(Array.from({ length: 16 }, () => second!.newTenant('tenant')))
  const shardsOf = (name: string) => async () =>
    (await nodes.read(`select id from shard where node = (select id from node where name = '${name}')`))
      .length
  const move = async () => {
    for (let count = 0; count < 3; count++) {
      await adminOf(first!.url)('PUT /_system/nodes/{name}/draining', { path: { name: 'b' } })
      await until('all shards of a', shardsOf('a'), (shards) => shards === 256)
      await adminOf(first!.url)('DELETE /_system/nodes/{name}/draining', { path: { name: 'b' } })
      await until('equal shares', shardsOf('b'), (shards) => shards === 128)
    }
  }
  const work = { isOver: false }
  const send = async ({ apiKey }: Tenant) => {
    const call = createClient(first!.url, { apikey: apiKey })
    while (!work.isOver) {
      await call('POST /connections', { body: { label: 'label' } })
      await sleep(20)
    }
  }
  await Promise.all([move().finally(() => (work.isOver = true)), ...tenants.map(send)])
})

test('a node that stops gives its wallets to the others at once', async () => {
  const tenants = await Promise.all(Array.from({ length: 8 }, () => nodes.newTenant('tenant')))
  const [first, second] = nodes.daemons
  const work = { isOver: false }
  const working = Promise.all(
    tenants.map(async ({ apiKey }) => {
      const statuses: number[] = []
      while (!work.isOver) {
        statuses.push((await fetch(`${first!.url}/connections`, { headers: { apikey: apiKey } })).status)
        await sleep(20)
      }
      return statuses
    }),
  )
  expect(await second!.stop()).toBe(0)
  work.isOver = true
  expect(new Set((await working).flat())).toEqual(new Set([200]))
  expect(await nodes.read(`select name from node`)).toEqual([{ name: 'a' }])
  await second!.start()
})

test('SIGTERM ends a node whose database does not answer, and its name is free when the lease has ended', async () => {
  await using cut = await startNodes(['a'], {}, { hasLinks: true })
  const [daemon] = cut.daemons
  await cut.newTenant('tenant')
  cut.links[0]!.cut()
  process.kill(daemon!.pid, 'SIGTERM')
  const { exitCode, stderr } = (await daemon!.ended)!
  expect(exitCode, stderr).toBe(0)
  expect(stderr).toContain('the agent did not stop in time')
  cut.links[0]!.mend()
  await daemon!.start()
  expect(await daemon!.stop()).toBe(0)
})
