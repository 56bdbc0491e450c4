/**
 * Other agents running the same flow, next to this one. They are installed separately: `npm ci --ignore-
 * scripts --prefix bench/peers`.
 */
import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { percentile } from '../../test/faults/_samples.ts'
import { openChild } from '../flows/_bare.ts'
import { measureSetup, warmUp } from '../flows/measure.ts'
import { openSetup } from '../flows/_setup.ts'
import type { Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'

/** The intended ratio of a peer's CPU time to this agent's. */
const peers = {
  veramo: { title: 'Veramo 7', times: 8 },
  credo: { title: 'Credo-TS 0.6', times: 12 },
}

const installed = fileURLToPath(new URL('node_modules', import.meta.url))

/**
 * Measures the full flow in turn, alone and sixteen at a time. A peer's ratio is this agent's CPU time
 * divided by its own.
 */
export async function measurePeer(
  name: keyof typeof peers,
  { seconds, warmUp: warming }: Scale,
): Promise<Outcome> {
  if (!existsSync(installed))
    throw new Error('the peers are not installed: npm ci --ignore-scripts --prefix bench/peers')
  const { title, times: wanted } = peers[name]
  await using setup = await openSetup(1)
  await using peer = await openChild(
    fork(fileURLToPath(new URL(`${name}.mjs`, import.meta.url)), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  )
  const work = await warmUp(setup, 'full', warming)
  await peer.run({ concurrency: 4, seconds: warming.seconds })
  const rows: Row[] = []
  const failures: string[] = []
  for (const concurrency of [1, 16]) {
    const { times, cpuMs, perSecond } = await peer.run({ concurrency, seconds })
    const { figures, reasons } = await measureSetup(setup, work, concurrency, seconds)
    rows.push({ name: 'identity-agent, full flow', figures })
    const ratios = { ratio: perSecond / figures.perSecond, cpuRatio: figures.cpuMs / cpuMs, goal: 1 / wanted }
    rows.push({
      name: title,
      figures: { concurrency, perSecond, p50: percentile(times, 0.5), cpuMs, ...ratios },
    })
    failures.push(...reasons)
  }
  return { tables: [{ title: `Next to ${title}: a full flow`, rows }], failures }
}
