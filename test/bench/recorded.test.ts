/** The recorded results match the page and the existing scenarios. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { countsPart, recordedPart } from '../../bench/_page.ts'
import { readRecorded, readRecordedCounts, withOthers } from '../../bench/_recorded.ts'
import { scenarios } from '../../bench/_scenarios.ts'

test('the quick results are in the short form without failures', () => {
  const { tables, failures, quick } = readRecorded(true)
  expect({ failures, quick }).toEqual({ failures: [], quick: true })
  expect([...new Set(tables.map(({ scenario }) => scenario))]).toEqual(
    scenarios.filter(({ isShort }) => isShort).map(({ name }) => name),
  )
})

test.skipIf(!existsSync('bench/results/full.json'))('the page shows the full results', () => {
  expect(readFileSync('docs/reference/benchmarks.md', 'utf8')).toContain(recordedPart(readRecorded(false)))
})

test('the page shows the recorded counts of a full flow', () => {
  expect(readFileSync('docs/reference/benchmarks.md', 'utf8')).toContain(countsPart(readRecordedCounts()))
})

test('new measurements replace recorded ones of the same scenarios; the others keep the name of their run', () => {
  const earlier = readRecorded(true)
  const order = ({ tables }: typeof earlier) => [...new Set(tables.map(({ scenario }) => scenario))]
  const [first, second] = order(earlier)
  const table = { scenario: second!, title: 'anew', rows: [] }
  const once = withOthers({ ...earlier, revision: 'abc1234', tables: [table] }, earlier)
  expect(once).toMatchObject({ revision: 'abc1234' })
  expect(once.tables.filter(({ scenario }) => scenario === second)).toEqual([table])
  expect(order(once)).toEqual(order(earlier))
  expect(once.tables[0]).toMatchObject({ scenario: first, run: expect.stringContaining(earlier.revision) })
  const page = recordedPart(once)
  expect(page).toMatch(new RegExp(`^- .*, abc1234, .*: ${second}$`, 'm'))
  expect(page.split(`- ${once.tables[0]!.run}: ${first}`)).toHaveLength(2)
  const twice = withOthers({ ...earlier, revision: 'def5678', tables: [table] }, once)
  expect(twice.tables[0]).toEqual(once.tables[0])
})
