/** The results that are recorded are those that the page shows, of scenarios that there are. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readRecorded, recordedPart } from '../../bench/_recorded.ts'
import { scenarios } from '../../bench/_scenarios.ts'

test('the quick results are of the short form, and nothing failed', () => {
  const { tables, failures, quick } = readRecorded(true)
  expect({ failures, quick }).toEqual({ failures: [], quick: true })
  expect([...new Set(tables.map(({ scenario }) => scenario))]).toEqual(scenarios.filter(({ isShort }) => isShort).map(({ name }) => name))
})

test.skipIf(!existsSync('bench/results/full.json'))('the page shows the full results', () => {
  expect(readFileSync('docs/benchmarks.md', 'utf8')).toContain(recordedPart(readRecorded(false)))
})
