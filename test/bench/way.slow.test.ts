/** Holds the work of a full flow of two daemons to the recorded counts. */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readRecordedCounts } from '../../bench/_recorded.ts'
import type { Row } from '../../bench/_results.ts'
import { requests } from '../../bench/flows/_steps.ts'
import { advice, findGrown } from '../../bench/way/_guard.ts'
import { brief, countDaemons } from '../../bench/way/measure.ts'

const recorded = readRecordedCounts()

const major = (version: string) => version.split('.')[0]
const isComparable =
  existsSync('/proc/self/io') &&
  process.env['TEST_STORE'] === undefined &&
  major(process.version) === major(recorded.node)

const patienceMs = 600_000

/**
 * How often the flow is counted. A busy machine only adds work: the outcomes of webhooks that come more than
 * 50 ms apart do not share a commit. What has grown has done so each time.
 */
const attempts = 3

test.runIf(isComparable)(
  'no count of a full flow has grown by more than 5 %',
  { timeout: patienceMs },
  async () => {
    let grown: string[] = []
    for (let attempt = 0; attempt === 0 || (attempt < attempts && grown.length > 0); attempt++) {
      const { rows } = await countDaemons(brief)
      expect(rows.map(({ name }) => name)).toEqual([...requests, 'full flow'])
      grown = findGrown(recorded.tables[0]!.rows, rows)
    }
    expect(grown, advice).toEqual([])
  },
)

test('a grown count is reported with the steps in which it has grown', () => {
  const rows = (promises: number, commits: number): Row[] => [
    { name: 'POST /connections', figures: { promises, commits, calls: 100 } },
    { name: 'POST /connection-invitations', figures: { promises: 900, calls: 100 } },
    { name: 'full flow', figures: { promises: promises + 900, commits, calls: 200 } },
  ]
  expect(findGrown(rows(100, 1), rows(150, 9))).toEqual([])
  expect(findGrown(rows(100, 1), rows(151, 9))).toEqual([
    'promises of a full flow: 1,000 before, 1,051 now\n  POST /connections: 100 before, 151 now',
  ])
})
