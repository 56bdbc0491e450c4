/** Kills daemons while flows run, and compares the events with the reference model. */
import { setTimeout } from 'node:timers/promises'
import { runFlow } from './_flow.ts'
import { judge } from './_model.ts'
import { createRandom } from '../support/random.mjs'
import { stateOf, subjectOf } from '../support/webhook.ts'
import {
  ask,
  awaitingKills,
  killAt,
  openSetup,
  setFaults,
  type Faults,
  type Kill,
  type Setup,
} from './_setup.ts'

/** The points of `src/foundation/probe.ts`. */
export const points = [
  'commit:before',
  'commit:after',
  'message:before',
  'message:after',
  'webhook:before',
  'webhook:after',
  'schema:before',
  'schema:after',
] as const

export type Outcome = {
  kills: number
  flows: number
  events: number
  repeats: number
  /** Fault descriptions by kind. */
  lost: string[]
  doubled: string[]
  unended: string[]
  /** Seconds from the last start of a daemon until every flow had ended, at most. */
  slowest: number
}

/** The faults of a result. */
export const faultsOf = ({ lost, doubled, unended }: Outcome) => ({ lost, doubled, unended })
export const faultless = { lost: [], doubled: [], unended: [] }

export const nothing = (): Outcome => ({
  kills: 0,
  flows: 0,
  events: 0,
  repeats: 0,
  lost: [],
  doubled: [],
  unended: [],
  slowest: 0,
})

export function add(a: Outcome, b: Outcome): Outcome {
  return {
    kills: a.kills + b.kills,
    flows: a.flows + b.flows,
    events: a.events + b.events,
    repeats: a.repeats + b.repeats,
    lost: [...a.lost, ...b.lost],
    doubled: [...a.doubled, ...b.doubled],
    unended: [...a.unended, ...b.unended],
    slowest: Math.max(a.slowest, b.slowest),
  }
}

/** The time limit in milliseconds for all flows to end after the last start of a daemon. */
const graceMs = 30_000

/**
 * Keeps `concurrency` flows running while either daemon is killed `kills` times at random. All flows must end
 * afterwards.
 */
export async function killAtRandom({
  kills,
  seed,
  concurrency,
}: {
  kills: number
  seed: number
  concurrency: number
}): Promise<Outcome> {
  const random = createRandom(seed)
  await using setup = await openSetup()
  // No limit while daemons are being killed.
  const flows = runFlows(setup, concurrency, Infinity, 3_600_000)
  for (let n = 0; n < kills; n++) {
    // Long enough for some steps of some flows.
    await setTimeout(50 + random() * 250)
    const daemon = setup.daemons[random() < 0.5 ? 0 : 1]
    await daemon.stop('SIGKILL')
    await daemon.start()
  }
  return await outcomeOf(setup, kills, await flows.end(graceMs))
}

/** The kill points of the two daemons. */
export type Places = readonly [first: Kill, second: Kill]

/**
 * Kills both daemons at a pair of points while flows run, for each pair in turn. A point that is not reached
 * kills nothing.
 */
export async function killAtPoints(
  pairs: readonly Places[],
  { concurrency }: { concurrency: number },
): Promise<Outcome> {
  await using setup = await openSetup(awaitingKills)
  let sum: Ended = { flows: 0, failures: [], seconds: 0 }
  let kills = 0
  for (const pair of pairs) {
    await Promise.all(setup.daemons.map((daemon, n) => killAt(daemon, pair[n])))
    const watches = setup.daemons.map((daemon) => restartWhenKilled(daemon, () => kills++))
    const ended = await runFlows(setup, concurrency, concurrency).end()
    await Promise.all(watches.map((stop) => stop()))
    const where = pair.map(({ point, nth }) => `${point} ${nth}`).join(' and ')
    sum = {
      flows: sum.flows + ended.flows,
      failures: [...sum.failures, ...ended.failures.map((failure) => `${where}: ${failure}`)],
      seconds: Math.max(sum.seconds, ended.seconds),
    }
  }
  return await outcomeOf(setup, kills, sum)
}

/** Restarts a daemon when it is killed. Returns a function that ends this and leaves the daemon running. */
function restartWhenKilled(daemon: Setup['daemons'][number], onDeath: () => void): () => Promise<void> {
  let [hasDied, isOver] = [false, false]
  const revived = daemon.ended.then(async () => {
    if (isOver) return
    hasDied = true
    onDeath()
    await daemon.start()
  })
  return async () => {
    isOver = !hasDied && (await clearKillPoint(daemon))
    if (!isOver) await revived
  }
}

/** Clears the kill point. Returns false if the daemon was already killed. */
const clearKillPoint = (daemon: Setup['daemons'][number]) =>
  killAt(daemon).then(
    () => true,
    () => false,
  )

/** Runs `count` flows while a share of all steps inside both daemons fails, before or after its effect. */
export async function failAtRandom({
  rate,
  seed,
  flows: count,
}: {
  rate: number
  seed: number
  flows: number
}): Promise<Outcome> {
  await using setup = await openSetup()
  await Promise.all(setup.daemons.map((daemon, n) => restartWith(daemon, { rate, seed: seed + n })))
  // A failed delivery delays a webhook queue by five seconds, and one event in a thousand fails three times.
  const replays = setInterval(() => void setup.replay().catch(() => undefined), 5_000)
  try {
    return await outcomeOf(
      setup,
      0,
      await runFlows(setup, Math.min(count, 20), count, count * 20_000 + 60_000).end(),
    )
  } finally {
    clearInterval(replays)
  }
}

async function restartWith(daemon: Setup['daemons'][number], faults: Faults): Promise<void> {
  setFaults(daemon, faults)
  await daemon.stop()
  await daemon.start()
}

type Ended = { flows: number; failures: string[]; seconds: number }

/** Runs flows with limited concurrency until stopped, or until `most` have started. */
function runFlows(
  setup: Setup,
  concurrency: number,
  most = Infinity,
  waitMs?: number,
): { end(withinMs?: number): Promise<Ended> } {
  let begun = 0
  const ending = new AbortController()
  const failures: string[] = []
  const running = new Set<string>()
  const runOn = async () => {
    while (!ending.signal.aborted && begun < most) {
      begun++
      const name = `flow-${++setup.flows}`
      running.add(name)
      await runFlow(setup, name, waitMs).catch((error: unknown) =>
        failures.push(`${name}: ${(error as Error).message}`),
      )
      running.delete(name)
    }
  }
  const runners = Array.from({ length: concurrency }, runOn)
  return {
    async end(withinMs) {
      if (most === Infinity) ending.abort()
      const start = performance.now()
      const late = withinMs === undefined ? [] : [setTimeout(withinMs, undefined, { ref: false })]
      await Promise.race([Promise.all(runners), ...late])
      for (const name of running) failures.push(`${name} had not ended ${withinMs} ms after the last start`)
      return { flows: begun, failures, seconds: (performance.now() - start) / 1_000 }
    },
  }
}

/** Compares the webhook events with the model, the records and the event log. */
async function outcomeOf(setup: Setup, kills: number, { flows, failures, seconds }: Ended): Promise<Outcome> {
  const { webhook } = setup
  const lost = await missing(setup)
  const verdict = judge(webhook.events)
  return {
    kills,
    flows,
    events: webhook.events.length,
    repeats: webhook.deliveries.length - webhook.events.length,
    lost: [...failures, ...lost, ...verdict.missing],
    doubled: [
      ...verdict.doubled,
      ...webhook.changed.map((id) => `the event ${id} came again with another content`),
    ],
    unended: verdict.unended,
    slowest: seconds,
  }
}

/** Records without an event for their last state. */
async function missing({ webhook, issuer, holder }: Setup): Promise<string[]> {
  const lost: string[] = []
  for (const tenant of [issuer, holder]) {
    const last = new Map(
      webhook.events
        .filter(({ walletId }) => walletId === tenant.walletId)
        .map((event) => [subjectOf(event), stateOf(event)]),
    )
    for (const path of ['/connections', '/issue-credentials/records', '/present-proof/presentations']) {
      for (let page: string | undefined = `${path}?limit=1000`; page;) {
        const { contents, next }: { contents: Record<string, string>[]; next?: string } = await ask(
          tenant,
          `GET ${page}`,
        )
        for (const { thid, state, protocolState, status } of contents) {
          const is = state ?? protocolState ?? status
          if (last.get(thid!) !== is)
            lost.push(`${path} ${thid} is ${is}, and the last event has ${last.get(thid!)}`)
        }
        page = next
      }
    }
  }
  return lost
}
