/**
 * Throughput, latency and CPU time of flows between two daemons, next to the bare composition of the same
 * steps.
 */
import { percentile } from '../../test/faults/_samples.ts'
import { load } from '../_load.ts'
import type { Row } from '../_results.ts'
import type { FlowName, Outcome, Scale } from '../_scenarios.ts'
import { openBare } from './_bare.ts'
import { all, issue, present, type Kind } from './_flows.ts'
import type { Steps } from './_steps.ts'
import { connect, openSetup, type Pair, type Setup } from './_setup.ts'

const jwt: Kind = { credentialFormat: 'JWT', curve: 'secp256k1' }
const eddsaJwt: Kind = { credentialFormat: 'JWT', curve: 'Ed25519' }
const sdJwt: Kind = { credentialFormat: 'SDJWT', curve: 'Ed25519' }

type Flow = {
  /** The bare composition of the same flow. */
  bare: Steps
  /** The preparation of the holder. */
  has?: Kind
  run: (pair: Pair, recordId: string | undefined) => Promise<unknown>
}

const flows: Record<FlowName, Flow> = {
  connect: { bare: 'connect', run: (pair) => connect(pair) },
  'issue-jwt-es256k': { bare: 'issue', run: (pair) => issue(pair, jwt) },
  'issue-jwt-eddsa': { bare: 'issue', run: (pair) => issue(pair, eddsaJwt) },
  'issue-sdjwt-eddsa': { bare: 'issue', run: (pair) => issue(pair, sdJwt) },
  'present-jwt': { bare: 'present', has: jwt, run: (pair, recordId) => present(pair, recordId!, jwt) },
  'present-sdjwt': { bare: 'present', has: sdJwt, run: (pair, recordId) => present(pair, recordId!, sdJwt) },
  full: { bare: 'full', run: (pair) => all(pair, jwt) },
}

/** The share of a run for which the bare composition is measured. */
const bareShare = 0.3

/** Measures a flow with some tenants on each side and some concurrent flows. */
export async function measureFlow(
  name: FlowName,
  { tenants, concurrency, seconds, warmUp: warming }: Scale,
): Promise<Outcome> {
  const rows: Row[] = []
  const failures: string[] = []
  const { bare: steps } = flows[name]
  await using bare = await openBare()
  await bare.run({ steps, concurrency: 16, seconds: seconds * bareShare })
  for (const pairs of tenants) {
    await using setup = await openSetup(pairs)
    const work = await warmUp(setup, name, warming)
    for (const atOnce of concurrency) {
      const { cpuMs } = await bare.run({ steps, concurrency: atOnce, seconds: seconds * bareShare })
      const { figures, reasons } = await measureSetup(setup, work, atOnce, seconds)
      rows.push({ name, figures: { ...figures, bareCpuMs: cpuMs, cpuRatio: figures.cpuMs / cpuMs } })
      failures.push(...reasons)
    }
  }
  return { tables: [{ title: `Two daemons: ${name}`, rows }], failures }
}

/** One flow of a pair. */
export type Work = (pair: Pair) => Promise<unknown>

/** Prepares the holders, and runs the flow for a while, because V8 compiles code after some hundred runs. */
export async function warmUp(
  setup: Setup,
  name: FlowName,
  { flows: count, seconds }: Scale['warmUp'],
): Promise<Work> {
  const { has, run } = flows[name]
  const records = new Map<Pair, string>()
  if (has) for (const pair of setup.pairs) records.set(pair, await issue(pair, has))
  const work: Work = (pair) => run(pair, records.get(pair))
  await runFor(setup, work, 16, seconds, count)
  return work
}

/** The number of flows that a setup has run. */
const done = new WeakMap<Setup, number>()

/** Measures a flow in a warm setup; `reasons` are those of failures. */
export async function measureSetup(
  setup: Setup,
  work: Work,
  concurrency: number,
  seconds: number,
  flows = Infinity,
) {
  const flowsBefore = done.get(setup) ?? 0
  await setup.used()
  setup.requests()
  setup.received()
  const start = performance.now()
  const { times, failed, reasons } = await runFor(setup, work, concurrency, seconds, flows)
  const elapsed = performance.now() - start
  const used = await setup.used()
  const sum = (of: 'cpuMs' | 'mainMs' | 'residentMb') => used.reduce((total, each) => total + each[of], 0)
  const most = (of: 'delayMs' | 'longestMs') => used.reduce((largest, each) => Math.max(largest, each[of]), 0)
  const figures = {
    tenants: setup.pairs.length,
    concurrency,
    flowsBefore,
    perSecond: (times.length * 1_000) / elapsed,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    cpuMs: sum('cpuMs') / times.length,
    mainMs: sum('mainMs') / times.length,
    loopP99: most('delayMs'),
    loopMax: most('longestMs'),
    requestMax: setup.requests().reduce((largest, each) => Math.max(largest, each), 0),
    webhooks: setup.received() / times.length,
    megabytes: sum('residentMb'),
    failed,
  }
  return { figures, reasons }
}

/** Runs concurrent flows, each with the next pair, up to a number of seconds and of flows. */
async function runFor(setup: Setup, work: Work, concurrency: number, seconds: number, most = Infinity) {
  let next = 0
  const once = () => work(setup.pairs[next++ % setup.pairs.length]!)
  const outcome = await load(once, { concurrency, seconds, most })
  setup.forget()
  done.set(setup, (done.get(setup) ?? 0) + outcome.times.length)
  return outcome
}
