/** The recorded results, `bench/results/full.json` and `quick.json`, and the page with the full ones. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readResults, toHeading, toMarkdown, type Results } from './_results.ts'
import { scenarios } from './_scenarios.ts'

const pathOf = (isQuick: boolean) =>
  new URL(`results/${isQuick ? 'quick' : 'full'}.json`, import.meta.url).pathname
const page = new URL('../docs/reference/benchmarks.md', import.meta.url)
const marks = /(<!-- results -->\n)[^]*(<!-- \/results -->)/

/** The last recorded results of the same kind; quick runs are less warm. @throws if there are none. */
export function readRecorded(isQuick: boolean): Results {
  if (!existsSync(pathOf(isQuick)))
    throw new Error('nothing is recorded to hold this against: --record does that')
  return readResults(pathOf(isQuick))
}

/** Records results, and writes the full ones to the page. Recorded results of other scenarios stay. */
export function record(results: Results): void {
  const path = pathOf(results.quick)
  const all = existsSync(path) ? withOthers(results, readResults(path)) : results
  writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`)
  if (!results.quick)
    writeFileSync(
      page,
      readFileSync(page, 'utf8').replace(marks, (_, begin, end) => `${begin}${recordedPart(all)}${end}`),
    )
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

/** The part of the page between its marks. */
export function recordedPart(results: Results): string {
  const failures = results.failures.map((failure) => `- Failed: ${failure}`)
  const runs = new Set([toHeading(results), ...results.tables.flatMap(({ run }) => run ?? [])])
  const headings = Array.from(runs, (run) => `${run}.`).join('\\\n')
  const parts = [
    headings,
    ...(failures.length > 0 ? [failures.join('\n')] : []),
    ...results.tables.map(toMarkdown),
  ]
  return `\n${parts.join('\n\n')}\n\n`
}
