/** How many flows a second two daemons do with each other, how long one takes, and what it costs them. */
import { percentile } from '../../test/faults/_samples.ts'
import { all, issue, present, type Kind } from './_flows.ts'
import { connect, openTown, type Pair, type Town } from './_town.ts'

export type Flows = {
  scenario: string
  tenants: number
  concurrency: number
  flows: number
  perSecond: number
  /** Milliseconds from a flow's begin to its end. */
  p50: number
  p95: number
  p99: number
  /** Of a processor, in milliseconds a flow, of both daemons. */
  cpuMs: number
  /** Milliseconds by which an event loop of the daemons was late, in 99 of 100 cases, and at most. */
  loopP99: number
  loopMax: number
  /** Of both daemons together, in megabytes, afterwards. */
  residentMb: number
  failed: number
}

type Scenario = { name: string; run: (pair: Pair, recordId: string) => Promise<unknown> }

const jwt: Kind = { credentialFormat: 'JWT', curve: 'secp256k1' }

const scenarios: Scenario[] = [
  { name: 'connect', run: (pair) => connect(pair) },
  { name: 'issue JWT ES256K', run: (pair) => issue(pair, jwt) },
  { name: 'issue JWT EdDSA', run: (pair) => issue(pair, { credentialFormat: 'JWT', curve: 'Ed25519' }) },
  { name: 'issue SD-JWT EdDSA', run: (pair) => issue(pair, { credentialFormat: 'SDJWT', curve: 'Ed25519' }) },
  { name: 'present JWT ES256K', run: (pair, recordId) => present(pair, recordId) },
  { name: 'full flow', run: (pair) => all(pair, jwt) },
]

export type FlowOptions = { tenants: number[]; concurrency: number[]; seconds: number }

/** Measures every scenario with so many tenants a side and so many flows at once. */
export async function measureFlows({ tenants, concurrency, seconds }: FlowOptions): Promise<Flows[]> {
  const results: Flows[] = []
  for (const pairs of tenants) {
    await using town = await openTown(pairs)
    const records = new Map<Pair, string>()
    for (const pair of town.pairs) records.set(pair, await issue(pair, jwt))
    for (const scenario of scenarios) {
      // What runs for the first time is compiled.
      await runFor(town, records, scenario, 16, Math.min(4, seconds))
      for (const atOnce of concurrency) results.push(await measureOne(town, records, scenario, atOnce, seconds))
    }
  }
  return results
}

async function measureOne(
  town: Town,
  records: ReadonlyMap<Pair, string>,
  scenario: Scenario,
  concurrency: number,
  seconds: number,
): Promise<Flows> {
  await town.used()
  const start = performance.now()
  const { times, failed } = await runFor(town, records, scenario, concurrency, seconds)
  const elapsed = performance.now() - start
  const used = await town.used()
  const sum = (of: 'cpuMs' | 'residentMb') => used.reduce((total, each) => total + each[of], 0)
  return {
    scenario: scenario.name,
    tenants: town.pairs.length,
    concurrency,
    flows: times.length,
    perSecond: (times.length * 1_000) / elapsed,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    cpuMs: sum('cpuMs') / times.length,
    loopP99: Math.max(...used.map(({ delayMs }) => delayMs)),
    loopMax: Math.max(...used.map(({ longestMs }) => longestMs)),
    residentMb: sum('residentMb'),
    failed,
  }
}

/** Runs flows for so many seconds, so many at once, each by the next pair. */
async function runFor(
  town: Town,
  records: ReadonlyMap<Pair, string>,
  { run }: Scenario,
  concurrency: number,
  seconds: number,
): Promise<{ times: number[]; failed: number }> {
  const times: number[] = []
  const end = performance.now() + seconds * 1_000
  let next = 0
  let failed = 0
  const work = async () => {
    for (let from = performance.now(); from < end; from = performance.now()) {
      const pair = town.pairs[next++ % town.pairs.length]!
      try {
        await run(pair, records.get(pair)!)
        times.push(performance.now() - from)
      } catch (error) {
        if (failed++ === 0) process.stderr.write(`${(error as Error).message}\n`)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  town.forget()
  return { times, failed }
}

/** Results as a table. */
export function toFlowTable(results: readonly Flows[]): string {
  const rows = results.map((each) => {
    const cells = [
      each.scenario,
      each.tenants,
      each.concurrency,
      each.perSecond.toFixed(1),
      each.p50.toFixed(0),
      each.p95.toFixed(0),
      each.p99.toFixed(0),
      each.cpuMs.toFixed(1),
      each.loopP99.toFixed(0),
      each.loopMax.toFixed(0),
      each.residentMb.toFixed(0),
      each.failed,
    ]
    return `| ${cells.join(' | ')} |`
  })
  const head = ['', 'tenants', 'at once', 'a second', 'p50 ms', 'p95', 'p99', 'CPU ms', 'loop p99', 'loop max', 'MB', 'failed']
  return [`| ${head.join(' | ')} |`, `|---${'|--:'.repeat(head.length - 1)}|`, ...rows].join('\n')
}
