/**
 * The recorded results, `bench/results/full.json`, `quick.json` and `way.json`, and the page with the full
 * ones and the counts.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { countsPart, recordedPart } from './_page.ts'
import { readResults, toHeading, type Results } from './_results.ts'
import { scenarios } from './_scenarios.ts'

const pathOf = (isQuick: boolean) =>
  new URL(`results/${isQuick ? 'quick' : 'full'}.json`, import.meta.url).pathname
/** Counts are the same in quick runs, and do not depend on the machine. */
const counts = 'way'
const countsPath = new URL('results/way.json', import.meta.url).pathname
const page = new URL('../docs/reference/benchmarks.md', import.meta.url)
const marksOf = (part: 'results' | 'way') => new RegExp(`(<!-- ${part} -->\\n)[^]*(<!-- /${part} -->)`)

/** The last recorded results of the same kind; quick runs are less warm. @throws if there are none. */
export function readRecorded(isQuick: boolean): Results {
  if (!existsSync(pathOf(isQuick)))
    throw new Error('nothing is recorded to hold this against: --record does that')
  return readResults(pathOf(isQuick))
}

/** The recorded counts of `way`. */
export function readRecordedCounts(): Results {
  return readResults(countsPath)
}

/** The results of `way`, and those of all other scenarios. */
export function apart(results: Results): { counted?: Results; timed?: Results } {
  const [way, others] = [
    results.tables.filter(({ scenario }) => scenario === counts),
    results.tables.filter(({ scenario }) => scenario !== counts),
  ]
  return {
    ...(way.length > 0 && { counted: { ...results, tables: way, failures: [] } }),
    ...((others.length > 0 || way.length === 0) && { timed: { ...results, tables: others } }),
  }
}

/**
 * Records results, and writes the full ones and the counts to the page. Recorded results of other scenarios
 * stay.
 */
export function record(results: Results): void {
  const { counted, timed } = apart(results)
  if (counted) {
    writeFileSync(countsPath, `${JSON.stringify(counted, null, 2)}\n`)
    writePage('way', countsPart(counted))
  }
  if (timed) recordTimes(timed)
}

function recordTimes(results: Results): void {
  const path = pathOf(results.quick)
  const all = existsSync(path) ? withOthers(results, readResults(path)) : results
  writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`)
  if (!results.quick) writePage('results', recordedPart(all))
}

function writePage(part: 'results' | 'way', text: string): void {
  const written = readFileSync(page, 'utf8').replace(
    marksOf(part),
    (_, begin, end) => `${begin}${text}${end}`,
  )
  writeFileSync(page, written)
}

/** Adds the recorded results of other scenarios, with the run they are of. */
export function withOthers(results: Results, earlier: Results): Results {
  const isNew = (scenario: string) => results.tables.some((table) => table.scenario === scenario)
  const run = toHeading(earlier)
  const others = earlier.tables
    .filter(({ scenario }) => !isNew(scenario))
    .map((table) => ({ ...table, run: table.run ?? run }))
  const order = new Map(scenarios.map(({ name }, index) => [name, index]))
  const tables = [...results.tables, ...others].toSorted(
    (a, b) => order.get(a.scenario)! - order.get(b.scenario)!,
  )
  const failures = [
    ...results.failures,
    ...earlier.failures.filter((failure) => !isNew(failure.split(':')[0]!)),
  ]
  return { ...results, tables, failures }
}
