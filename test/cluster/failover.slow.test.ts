/**
 * Flows through two nodes while the database fails over to its standby, and while the clock of a node is
 * wrong. The long run is `run.ts`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needsPostgres } from '../support/needs-postgres.ts'
import { until } from '../support/tenants.ts'
import { Webhook } from '../support/webhook.ts'
import { clockLeeway, newPair, type Offered, type Pair, runFlow } from './_flow.ts'
import { startNodes, type Nodes } from './_nodes.ts'
import { openRequests } from './_requests.ts'
import { startReplicated, type Replicated } from './_standby.ts'
import { isFaultless, judge } from './_verdict.ts'

needsPostgres()

let webhook: Webhook
let server: Replicated
let nodes: Nodes
let pairs: Pair[]
beforeAll(async () => {
  webhook = await Webhook.open()
  // No lease ends because the machine is busy.
  const env = { GLOBAL_WEBHOOK_URL: webhook.url, AGENT_LEASE_SECONDS: '60', ...clockLeeway }
  const openServer = async () => (server = await startReplicated())
  nodes = await startNodes(['a', 'b'], env, { hasLinks: true, hasClocks: true, openServer })
  const { withRequests } = openRequests(nodes, Math.random)
  const newTenant = async (name: string) => withRequests(await nodes.newTenant(name))
  pairs = await Promise.all(Array.from({ length: 3 }, () => newPair(newTenant)))
})
afterAll(async () => {
  await nodes[Symbol.asyncDispose]()
  await webhook[Symbol.asyncDispose]()
})

let flows = 0
const offered: Offered[] = []
const runFlows = () =>
  Promise.all(pairs.map((pair) => runFlow(webhook, flows++, pair, (each) => void offered.push(each))))

const expectFaultless = async () => {
  const verdict = await judge(nodes, webhook, offered)
  expect(isFaultless(verdict), JSON.stringify(verdict)).toBe(true)
}

test('a fail-over to the synchronous standby loses and doubles nothing', async () => {
  const old = server.port
  const flowing = runFlows()
  await until(
    'an offer',
    () => Promise.resolve(offered.length),
    (length) => length > 0,
  )
  await server.failOver()
  await flowing
  expect(server.port).not.toBe(old)
  await runFlows()
  await expectFaultless()
})

test('a clock that is set by an hour loses and doubles nothing, and takes no wallets away', async () => {
  const readShards = () => nodes.read<{ node: string }>('select id, node, epoch from shard order by id')
  const half = (shards: { node: string }[]) =>
    shards.filter(({ node }) => node === shards[0]!.node).length === shards.length / 2
  const shards = await until('equal shares', readShards, half)
  const [clock] = nodes.clocks
  for (const differenceMs of [3_600_000, -3_600_000, 0]) {
    clock!.set(differenceMs)
    await runFlows()
  }
  expect(await readShards()).toEqual(shards)
  await expectFaultless()
})
