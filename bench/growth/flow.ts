/** Cost of a flow in a store after long use, alternating with an empty one. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'
import type { Daemon } from '../../test/support/daemon.ts'
import { openSetup, type Setup } from '../flows/_setup.ts'
import { measureSetup, warmUp } from '../flows/measure.ts'
import type { Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { seedWallet } from './_seed.ts'

export type Store = { wallets: number; records: number }

const rounds = 3
const concurrency = 16

/**
 * Flows with many other wallets at each daemon and many records in the participating wallets, half on each
 * side.
 */
export async function measureGrownFlow(
  { wallets, records }: Store,
  { seconds, warmUp: warming }: Scale,
): Promise<Outcome> {
  await using empty = await openSetup(1)
  await using grown = await openSetup(1)
  await grow(grown, { wallets, records })
  const best: Row['figures'][] = []
  const failures: string[] = []
  const setups = [empty, grown]
  const works = [await warmUp(empty, 'full', warming), await warmUp(grown, 'full', warming)]
  for (let round = 0; round < rounds; round++) {
    for (const [index, setup] of setups.entries()) {
      const { figures, reasons } = await measureSetup(setup, works[index]!, concurrency, seconds)
      if (!(best[index] && best[index].cpuMs! < figures.cpuMs)) best[index] = figures
      failures.push(...reasons)
    }
  }
  const [before, after] = best as [Row['figures'], Row['figures']]
  const name = `${wallets.toLocaleString('en')} wallets a daemon, ${records.toLocaleString('en')} records`
  const rows = [
    { name: 'empty', figures: before },
    { name, figures: { ...after, cpuRatio: after.cpuMs! / before.cpuMs!, goal: 1.2 } },
  ]
  return { tables: [{ title: `Growth: a full flow with ${name}, next to an empty store`, rows }], failures }
}

async function grow(setup: Setup, { wallets, records }: Store): Promise<void> {
  const { acme, alice } = setup.daemons
  const [pair] = setup.pairs
  await Promise.all([acme, alice].map((daemon) => makeWallets(daemon, wallets)))
  await Promise.all([acme.stop(), alice.stop()])
  for (const [daemon, { walletId }] of [
    [acme, pair!.issuer],
    [alice, pair!.holder],
  ] as const)
    await seedWallet(join(daemon.env['AGENT_DATA_DIR']!, 'wallets', `${walletId}.db`), records / 2)
  await Promise.all([acme.start(), alice.start()])
  await untilIdle(setup)
}

/** The CPU share of an idle daemon, at most. */
const idleMs = 100

/**
 * Waits until the daemons have finished their start: each wallet is examined and scanned for jobs, a second
 * for a gigabyte.
 */
async function untilIdle({ used }: Setup): Promise<void> {
  for (await used(); ;) {
    await sleep(1_000)
    if ((await used()).every(({ cpuMs }) => cpuMs < idleMs)) return
  }
}

async function makeWallets(daemon: Daemon, count: number): Promise<void> {
  const queue = new PQueue({ concurrency: 4 })
  const make = async (n: number) => {
    await daemon.admin('POST /wallets', { body: { name: `other-${n}` } })
  }
  await queue.addAll(Array.from({ length: count - 1 }, (_, n) => () => make(n)))
}
