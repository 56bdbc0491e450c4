/** Compares two runs of the bench. */
import { expect, test } from 'vitest'
import { compare, findRegressions, toComparison } from '../../bench/_compare.ts'
import type { Results, Row } from '../../bench/_results.ts'

const results = (rows: Row[], title = 'Envelopes'): Results => ({
  date: '2026-11-22T00:00:00.000Z',
  revision: 'abc',
  quick: false,
  node: 'v20',
  cpu: 'a processor',
  cores: 2,
  memoryMb: 1_024,
  files: 'on disk',
  load: { before: 0, after: 0 },
  tables: [{ scenario: 'didcomm', title, rows }],
  failures: [],
})
const packed = (figures: Row['figures']) => results([{ name: 'pack', figures }])

test('every comparable figure is compared as a ratio to its earlier value', () => {
  const changes = compare(
    packed({ perSecond: 100, cpuMs: 2, goal: 1.3 }),
    packed({ perSecond: 150, cpuMs: 3, goal: 1.5 }),
  )
  expect(changes.map(({ figure, change }) => [figure, change])).toEqual([
    ['perSecond', 1.5],
    ['cpuMs', 1.5],
  ])
  const [, more, less] = toComparison(changes).split('\n').slice(1)
  expect(more).toMatch(/a second \| 100 \| 150 \| 1\.50 \| better \|$/)
  expect(less).toMatch(/CPU ms \| 2 \| 3 \| 1\.50 \| worse \|$/)
})

test('rows are matched by concurrency, and rows of only one run are omitted', () => {
  const at = (concurrency: number, cpuMs: number) => ({
    name: 'full',
    figures: { tenants: 1, concurrency, cpuMs },
  })
  const changes = compare(results([at(1, 10), at(16, 20)]), results([at(16, 10), at(64, 10)]))
  expect(changes.map(({ row, change }) => [row, change])).toEqual([['full (1 tenants, 16 at once)', 0.5]])
  expect(compare(results([at(1, 10)]), results([at(1, 10)], 'Another'))).toEqual([])
})

test('the guard reports ratios that are worse beyond the noise, and no times, which depend on the machine', () => {
  const recorded = packed({ cpuMs: 1, cpuRatio: 1, ratio: 1 })
  expect(findRegressions(recorded, packed({ cpuMs: 9, cpuRatio: 1.3, ratio: 0.5 }))).toEqual([])
  expect(
    findRegressions(recorded, packed({ cpuMs: 1, cpuRatio: 1.4, ratio: 1 })).map(({ figure }) => figure),
  ).toEqual(['cpuRatio'])
})
