/**
 * `npm run test:nodes -- --flows 300 --seed 1 --faults kill,failover`: three nodes over one PostgreSQL run
 * flows through random nodes. Meanwhile nodes are killed, paused for 30 s and cut off from the database; the
 * database is restarted and fails over to a synchronous standby; clocks are set by an hour. By default all
 * faults are in the run. `--minutes` ends it after a time.
 *
 * `--upgrade-from <folder>` begins with nodes of an earlier, built clone, and replaces them by nodes of this
 * build instead of the faults.
 *
 * Prints what was lost, doubled and out of order, how long a request waited for an answer, and the times of
 * take-overs. Exits with 1 if anything was lost, doubled or out of order, or a node ended by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import PQueue from 'p-queue'
import { startPostgres } from '../support/postgres.ts'
import { createRandom } from '../support/random.mjs'
import { Webhook } from '../support/webhook.ts'
import { openBalancer } from './_balancer.ts'
import { type FaultName, faults } from './_faults.ts'
import { clockLeeway, newPair, type Offered, runFlow } from './_flow.ts'
import { startNodes } from './_nodes.ts'
import { openRequests } from './_requests.ts'
import { startReplicated } from './_standby.ts'
import { findTenantOf, timeUntilAnswer } from './_take-over.ts'
import { programIn, upgradeAll } from './_upgrade.ts'
import { isFaultless, judge } from './_verdict.ts'

const { values } = parseArgs({
  options: {
    flows: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '600' },
    concurrency: { type: 'string', default: '6' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    faults: { type: 'string', default: Object.keys(faults).join(',') },
    'upgrade-from': { type: 'string' },
  },
})
const flows = Number(values.flows)
const earlier = values['upgrade-from']
const chosen = values.faults.split(',').filter((name) => name !== '') as FaultName[]
const unknown = chosen.find((name) => !Object.hasOwn(faults, name))
if (unknown !== undefined)
  throw new Error(`--faults: ${unknown} is none of ${Object.keys(faults).join(', ')}`)

const pairCount = 8
const names = ['a', 'b', 'c']
/** The choices of faults, and those of nodes for requests, whose number differs from run to run. */
const [randomFault, randomNode] = [createRandom(Number(values.seed)), createRandom(Number(values.seed) + 1)]

await using webhook = await Webhook.open()
await using balancer = await openBalancer()
await using nodes = await startNodes(
  names,
  {
    DIDCOMM_SERVICE_URL: balancer.url,
    GLOBAL_WEBHOOK_URL: webhook.url,
    AGENT_LEASE_SECONDS: '5',
    ...clockLeeway,
  },
  {
    hasLinks: true,
    hasClocks: true,
    openServer: chosen.includes('failover') ? startReplicated : startPostgres,
    program: earlier === undefined ? undefined : programIn(earlier),
  },
)
balancer.serve(() => nodes.daemons.map(({ didcommUrl }) => didcommUrl))

const { counts, withRequests } = openRequests(nodes, randomNode)
const newTenant = async (name: string) => withRequests(await nodes.newTenant(name))
const pairs = await Promise.all(Array.from({ length: pairCount }, () => newPair(newTenant)))
const tenants = pairs.flatMap(({ issuer, holder }) => [issuer, holder])

const begunAt = performance.now()
const secondsSoFar = () => Math.round((performance.now() - begunAt) / 1_000)
const offered: Offered[] = []
const failed: unknown[] = []
const ended: unknown[] = []
const takeOversMs: number[] = []
const done: Partial<Record<FaultName, number>> = {}
const progress = { begun: 0, complete: 0 }
const ending = new AbortController()

/** All faults in a random order, then again in another one. */
function* order(): Generator<FaultName, never> {
  for (;;) {
    const left = [...chosen]
    while (left.length > 0) yield left.splice(Math.floor(randomFault() * left.length), 1)[0]!
  }
}

async function breakThings(): Promise<void> {
  const next = order()
  while (!ending.signal.aborted) {
    await sleep(3_000, undefined, { signal: ending.signal }).catch(() => undefined)
    const name = next.next().value
    const index = Math.floor(randomFault() * names.length)
    await restartEnded()
    if (name === 'kill') await killAndMeasure(index)
    else await faults[name](nodes, index)
    done[name] = (done[name] ?? 0) + 1
    console.error(`${secondsSoFar()} s: ${name} ${names[index]!}, ${progress.complete} flows`)
  }
}

async function killAndMeasure(index: number): Promise<void> {
  const tenant = await findTenantOf(nodes, names[index]!, tenants)
  const others = nodes.daemons.filter((_, each) => each !== index)
  const killed = faults.kill(nodes, index)
  if (tenant) takeOversMs.push(await timeUntilAnswer(tenant, others))
  await killed
}

/** Notes nodes that have ended by themselves, and starts them again. */
async function restartEnded(): Promise<void> {
  for (const [index, daemon] of nodes.daemons.entries()) {
    const end = await Promise.race([daemon.ended, sleep(0, undefined)])
    if (!end) continue
    const { exitCode, signal, stderr } = end
    const reason =
      stderr?.split('\n').findLast((line) => line.includes('"level":60')) ?? stderr?.slice(-1_000)
    ended.push({ node: names[index], seconds: secondsSoFar(), exitCode, signal, reason })
    console.error(ended.at(-1))
    await daemon.start()
  }
}

/** Replaces the nodes after a quarter of the flows each. */
const upgrade = () =>
  upgradeAll(nodes.daemons, async (index) => {
    while (progress.complete < (flows * (index + 1)) / 4) await sleep(100)
    console.error(`${secondsSoFar()} s: node ${names[index]!} is replaced, ${progress.complete} flows`)
  })

const breaking = earlier === undefined ? chosen.length > 0 && breakThings() : upgrade()
const queue = new PQueue({ concurrency: Number(values.concurrency) })
const endsAt = begunAt + Number(values.minutes) * 60_000
await Promise.all(
  Array.from({ length: flows }, (_, index) =>
    queue.add(async () => {
      if (performance.now() > endsAt) return
      progress.begun++
      const note = (each: Offered) => void offered.push(each)
      await runFlow(webhook, index, pairs[index % pairCount]!, note).catch((error: unknown) => {
        failed.push(error)
        console.error(`${secondsSoFar()} s: flow ${index} failed: ${String(error)}`)
      })
      progress.complete++
    }),
  ),
)
const seconds = secondsSoFar()
ending.abort()
await breaking
await restartEnded()

const verdict = await judge(nodes, webhook, offered)
const result = {
  flows: progress.begun,
  seed: Number(values.seed),
  seconds,
  faults: done,
  failed: failed.length,
  nodesEnded: ended.length,
  ...verdict,
  ...counts,
  takeOvers: takeOversMs.length,
  longestTakeOverMs: Math.max(0, ...takeOversMs),
}
console.log(result)
process.exitCode = failed.length === 0 && ended.length === 0 && isFaultless(verdict) ? 0 : 1
