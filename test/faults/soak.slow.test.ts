/** Tests of the leak detection. The soak itself takes half an hour and is not run here. */
import { expect, test } from 'vitest'
import { createRandom } from '../support/random.mjs'
import { judge, afterWarmUp, warmUpFlows, type Measurement } from './_soak.ts'

/**
 * Half an hour in 90 measurements of a daemon that grows while its caches fill, and then by `growth` of each
 * figure per hour, with noise of 1 MB.
 */
function measurements(growth: Partial<Measurement> = {}, flows = 6_000): Measurement[] {
  const random = createRandom(1)
  const figure =
    (base: number, anHour = 0) =>
    (hours: number) =>
      base + anHour * hours + random()
  const figures = {
    resident: figure(170, growth.resident),
    heap: figure(40, growth.heap),
    outside: figure(90, growth.outside),
    files: figure(40, growth.files),
    handles: figure(15, growth.handles),
    log: figure(4, growth.log),
  }
  return Array.from({ length: 90 }, (_, n) => {
    const hours = (0.5 * (n + 1)) / 90
    const warmUp = Math.min(15, n)
    const seen = Object.fromEntries(Object.entries(figures).map(([name, of]) => [name, of(hours)])) as Omit<
      Measurement,
      'hours' | 'flows'
    >
    return {
      hours,
      flows: (flows * (n + 1)) / 90,
      ...seen,
      heap: seen.heap + warmUp,
      resident: seen.resident + warmUp,
    }
  })
}

test('a daemon with full caches and constant memory passes', () => {
  expect(judge(measurements())).toEqual([])
})

test.each([
  ['live memory grew', { heap: 10 }],
  ['live memory grew', { outside: 10 }],
  ['garbage had', { resident: 300 }],
  ['files grew', { files: 60 }],
  ['handles grew', { handles: 60 }],
  ['a write-ahead log had', { log: 60 }],
])('%s is the finding', (sentence, growth) => {
  expect(judge(measurements(growth)).join()).toMatch(new RegExp(`^${sentence}`))
})

test('measurements before the minimum of flows are warm-up; without later ones there is no result', () => {
  expect(Math.min(...afterWarmUp(measurements({}, 2_000)).map(({ flows }) => flows))).toBeGreaterThanOrEqual(
    warmUpFlows,
  )
  expect(judge(measurements({}, 500)).join()).toContain('too few')
})
