/**
 * Flows of OpenID4VC, next to a bare server in a process of its own: one daemon, every commit on disk, a
 * webhook for each state change. Wallets, tenant and webhook receiver are in this process.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { assemble } from '../../test/support/assemble.ts'
import { Daemon } from '../../test/support/daemon.ts'
import { percentile } from '../../test/faults/_samples.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { openChild } from '../flows/_bare.ts'
import { openReceiver } from '../flows/_receiver.ts'
import { meter, Used } from '../flows/_setup.ts'
import { load } from '../_load.ts'
import type { Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { openPool } from './_http.ts'

/** The share of a run for which the bare server is measured, and the intended maximum of the CPU ratio. */
const [bareShare, goal] = [0.5, 2]

/** A flow by its name. */
export type Flow = { name: string; once: () => Promise<unknown> }
type Usage = { cpuMs: number; mainMs?: number; residentMb?: number }
/** A server, with its resources and the number of webhooks since they were asked for. */
export type Side = { used: () => Promise<Usage>; received: () => number }

/** Measures flows of the agent, each next to that of the bare server. */
export async function measureNextToBare(
  title: string,
  { bare, agent }: { bare: Side & { flow: Flow }; agent: Side & { flows: Flow[] } },
  { concurrency, seconds, warmUp }: Scale,
): Promise<Outcome> {
  const rows: Row[] = []
  const failures: string[] = []
  const warmly = { concurrency: 16, seconds: warmUp.seconds, most: warmUp.flows }
  await load(bare.flow.once, warmly)
  for (const flow of agent.flows) {
    await load(flow.once, warmly)
    for (const atOnce of concurrency) {
      const bareRun = await measureFlow(bare, bare.flow, {
        concurrency: atOnce,
        seconds: seconds * bareShare,
      })
      const { figures, reasons } = await measureFlow(agent, flow, { concurrency: atOnce, seconds })
      const [bareCpuMs, cpuRatio] = [bareRun.figures.cpuMs, figures.cpuMs / bareRun.figures.cpuMs]
      rows.push({ name: flow.name, figures: { ...figures, bareCpuMs, cpuRatio, goal } })
      rows.push({ name: bare.flow.name, figures: bareRun.figures })
      failures.push(...bareRun.reasons, ...reasons)
    }
  }
  return { tables: [{ title, rows }], failures }
}

/** Measures a flow up to a number of seconds and of flows. */
export async function measureFlow(
  side: Side,
  { once }: Flow,
  limits: { concurrency: number; seconds: number; most?: number },
) {
  await side.used()
  side.received()
  const start = performance.now()
  const { times, failed, reasons } = await load(once, limits)
  const elapsed = performance.now() - start
  const { cpuMs, mainMs, residentMb } = await side.used()
  const figures = {
    concurrency: limits.concurrency,
    perSecond: (times.length * 1_000) / elapsed,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    cpuMs: cpuMs / times.length,
    ...(mainMs !== undefined && { mainMs: mainMs / times.length }),
    webhooks: side.received() / times.length,
    ...(residentMb !== undefined && { megabytes: residentMb }),
    failed,
  }
  return { figures, reasons }
}

const execArgv = ['--import', new URL('../_typescript.js', import.meta.url).href]

/** Starts a bare server, a file of this folder. */
export function openBareServer(file: string) {
  return assemble(async (use) => {
    const folder = use(await temporaryFolder())
    const { receiver, received } = use(await openCounter())
    const program = fileURLToPath(new URL(file, import.meta.url))
    const child = use(
      await openChild(
        fork(program, [folder.path, receiver.url], {
          execArgv,
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        }),
      ),
    )
    const { url } = z.object({ url: z.url() }).parse(child.ready)
    const pool = openPool(url)
    use({ [Symbol.asyncDispose]: () => pool.destroy() })
    const used = async () => z.object({ cpuMs: z.number() }).parse(await child.exchange({}))
    return { url, pool, used, received }
  })
}

/** Starts a daemon, of this build or of another one, with a tenant whose webhook is here. */
export function openAgent(tenantName: string, program?: string) {
  return assemble(async (use) => {
    const { receiver, received } = use(await openCounter())
    const unlimited = '1000000000'
    const daemon = use(
      await Daemon.start(
        {
          NODE_OPTIONS: `--import=${meter}`,
          ENTERPRISE_EVENTS: 'false',
          DEFAULT_WALLET_ENABLED: 'false',
          OID4VCI_REQUESTS_PER_MINUTE: unlimited,
          OID4VP_REQUESTS_PER_MINUTE: unlimited,
        },
        [],
        program,
      ),
    )
    const pool = openPool(daemon.url)
    use({ [Symbol.asyncDispose]: () => pool.destroy() })
    const tenant = await daemon.newTenant(tenantName)
    await tenant.call('POST /events/webhooks', { body: { url: receiver.url } })
    const used = async () => Used.parse(await daemon.exchange({ type: 'meter' }))
    return { url: daemon.url, pool, tenant, used, received }
  })
}

/** A webhook receiver that counts. */
async function openCounter() {
  const receiver = await openReceiver()
  const received = () => {
    receiver.forget()
    return receiver.received()
  }
  return { receiver, received, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() }
}
