/**
 * A short run of `npm run test:faults`: kills at any time lose nothing, duplicate nothing and leave no flow
 * unfinished.
 */
import { expect, test } from 'vitest'
import { faultless, faultsOf, killAtRandom } from './_kills.ts'

test('killed at random moments', { timeout: 300_000 }, async () => {
  const outcome = await killAtRandom({ kills: 6, seed: 1, concurrency: 10 })
  expect(faultsOf(outcome)).toEqual(faultless)
  expect(outcome.kills).toBe(6)
})
