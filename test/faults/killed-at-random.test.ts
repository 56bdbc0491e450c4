/** A short round of `npm run test:faults`: daemons that die at any moment lose nothing, double nothing and leave nothing hanging. */
import { expect, test } from 'vitest'
import { faultless, faultsOf, killAtRandom } from './_kills.ts'

test('killed at random moments', { timeout: 300_000 }, async () => {
  const outcome = await killAtRandom({ kills: 12, seed: 1, concurrency: 10 })
  expect(faultsOf(outcome)).toEqual(faultless)
  expect(outcome.kills).toBe(12)
})
