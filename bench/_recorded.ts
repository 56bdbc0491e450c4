/** The recorded results, `bench/results/full.json` and `quick.json`, and the page that shows the full ones. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readResults, toHeading, toMarkdown, type Results } from './_results.ts'

const pathOf = (isQuick: boolean) => new URL(`results/${isQuick ? 'quick' : 'full'}.json`, import.meta.url).pathname
const page = new URL('../docs/benchmarks.md', import.meta.url)
const marks = /(<!-- results -->\n)[^]*(<!-- \/results -->)/

/** What was recorded last with the same thoroughness: quick runs are less warm. @throws when nothing was. */
export function readRecorded(isQuick: boolean): Results {
  if (!existsSync(pathOf(isQuick))) throw new Error('nothing is recorded to hold this against: --record does that')
  return readResults(pathOf(isQuick))
}

/** Records results, and has the page show the full ones. */
export function record(results: Results): void {
  writeFileSync(pathOf(results.quick), `${JSON.stringify(results, null, 2)}\n`)
  if (!results.quick)
    writeFileSync(
      page,
      readFileSync(page, 'utf8').replace(marks, (_, begin, end) => `${begin}${recordedPart(results)}${end}`),
    )
}

/** The part of the page between its marks. */
export function recordedPart(results: Results): string {
  const failures = results.failures.map((failure) => `- Failed: ${failure}`)
  const parts = [`${toHeading(results)}.`, ...(failures.length > 0 ? [failures.join('\n')] : []), ...results.tables.map(toMarkdown)]
  return `\n${parts.join('\n\n')}\n\n`
}
