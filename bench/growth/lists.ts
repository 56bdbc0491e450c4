/** Pages of lists with many entries, next to those of a wallet with a hundred, at the same daemon. */
import { join } from 'node:path'
import { percentile } from '../../test/faults/_samples.ts'
import { issue, present } from '../flows/_flows.ts'
import { openSetup, type Pair, type Setup } from '../flows/_setup.ts'
import type { Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { seedWallet } from './_seed.ts'

const few = 600
const pageSize = 100

/** The number of protocols with records; each has the same number. */
const kinds = 3

const lists = ['/connections', '/issue-credentials/records', '/present-proof/presentations'] as const

/** The first and last pages of each list of a wallet with the given number of records. */
export async function measureLists(records: number, { quick }: Scale): Promise<Outcome> {
  const asked = quick ? 10 : 60
  await using setup = await openSetup(2)
  const [small, large] = setup.pairs as [Pair, Pair]
  const kind = { credentialFormat: 'JWT', curve: 'secp256k1' } as const
  for (const pair of [small, large]) await present(pair, await issue(pair, kind), kind)
  const { acme } = setup.daemons
  await acme.stop()
  for (const [pair, count] of [
    [small, few],
    [large, records],
  ] as const)
    await seedWallet(join(acme.env['AGENT_DATA_DIR']!, 'wallets', `${pair.issuer.walletId}.db`), count)
  await acme.start()
  // The file is examined when it is opened.
  const opening = await ask(setup, large, pageOf('/connections', 0), 1)
  const rows: Row[] = [
    { name: 'the first request after a start', figures: { p50: opening.p50, cpuMs: opening.cpuMs } },
  ]
  const hold = async (name: string, path: string, offset: number) => {
    const first = pageOf(path, 0)
    for (const [pair, page] of [
      [small, first],
      [large, pageOf(path, offset)],
    ] as const)
      await ask(setup, pair, page, 5)
    const [less, more] = [
      await ask(setup, small, first, asked),
      await ask(setup, large, pageOf(path, offset), asked),
    ]
    rows.push({
      name: `\`${path}\`, ${name}`,
      figures: { ...more, ratio: more.p50 / less.p50, cpuRatio: more.cpuMs / less.cpuMs },
    })
  }
  for (const path of lists) {
    await hold('first page', path, 0)
    await hold('last page', path, Math.floor(records / kinds) - pageSize)
  }
  await hold('first page', '/events', 0)
  const title = `Growth: pages of ${pageSize} in a wallet of ${records.toLocaleString('en')} records, next to the first page of one with ${few}`
  return { tables: [{ title, rows }], failures: [] }
}

function pageOf(path: string, offset: number): string {
  return `${path}?limit=${pageSize}${offset > 0 ? `&offset=${offset}` : ''}`
}

/** Requests a page repeatedly, and measures the issuer's daemon. @throws if the page is not full. */
async function ask(
  setup: Setup,
  { issuer }: Pair,
  path: string,
  times: number,
): Promise<{ p50: number; p99: number; cpuMs: number }> {
  await setup.used()
  setup.requests()
  for (let n = 0; n < times; n++) {
    const { contents } = await issuer.ask(`GET ${path}`)
    if (contents.length < pageSize / 2) throw new Error(`${path} has ${contents.length} entries`)
  }
  const [acme] = await setup.used()
  const durations = setup.requests()
  return { p50: percentile(durations, 0.5), p99: percentile(durations, 0.99), cpuMs: acme!.cpuMs / times }
}
