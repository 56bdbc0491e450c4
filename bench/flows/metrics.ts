/**
 * Measures the cost of metrics: full flows of two pairs of daemons, with metrics and without, by turns in one
 * run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome, Scale } from '../_scenarios.ts'
import { measureSetup, warmUp, type Work } from './measure.ts'
import { openSetup, type Setup } from './_setup.ts'

const concurrency = 16
const rounds = 12

type Way = { name: string; setup: Setup; work: Work; isScraped?: boolean }

/** The median CPU time of a flow in each way, and its ratio to the one without metrics. */
export async function measureMetrics({ tenants, seconds, warmUp: warming }: Scale): Promise<Outcome> {
  const pairs = Math.min(16, tenants.at(-1)!)
  await using without = await openSetup(pairs, { METRICS_ENABLED: 'false' })
  await using counting = await openSetup(pairs)
  const off = { name: 'without metrics', setup: without, work: await warmUp(without, 'full', warming) }
  const on = { name: 'with metrics', setup: counting, work: await warmUp(counting, 'full', warming) }
  const ways: Way[] = [off, on, { ...on, name: 'with metrics, scraped every second', isScraped: true }]
  const cpuMs = new Map(ways.map(({ name }) => [name, [] as number[]]))
  const failures: string[] = []
  for (let round = 0; round < rounds; round++)
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
      const { figures, reasons } = await measureWay(way, seconds)
      cpuMs.get(way.name)!.push(figures.cpuMs)
      failures.push(...reasons)
    }
  const base = median(cpuMs.get(off.name)!)
  const rows = [...cpuMs].map(([name, values]) => ({
    name,
    figures: { tenants: pairs, concurrency, cpuMs: median(values), cpuRatio: median(values) / base },
  }))
  return { tables: [{ title: 'Two daemons: full, with and without metrics', rows }], failures }
}

async function measureWay({ setup, work, isScraped = false }: Way, seconds: number) {
  const ending = new AbortController()
  const scraping = isScraped ? scrape(setup, ending.signal) : undefined
  const measured = await measureSetup(setup, work, concurrency, seconds)
  ending.abort()
  await scraping
  return measured
}

async function scrape({ daemons }: Setup, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const { url } of Object.values(daemons)) await (await fetch(`${url}/_system/metrics`)).text()
    await sleep(1_000, undefined, { signal }).catch(() => undefined)
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
