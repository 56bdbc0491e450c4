/** What the soak calls a leak; the soak itself takes half an hour and is no part of this. */
import { expect, test } from 'vitest'
import { createRandom } from '../_random.mjs'
import { judge, settled, warmUpFlows, type Look } from './_soak.ts'

/** Half an hour in 90 looks at a daemon that grows while its caches fill, and then by `growth` of each figure in an hour, within a noise of 1 MB. */
function looks(growth: Partial<Look> = {}, flows = 6_000): Look[] {
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
      Look,
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

test('a daemon that fills its caches and then stays as it is passes', () => {
  expect(judge(looks())).toEqual([])
})

test.each([
  ['live memory grew', { heap: 10 }],
  ['live memory grew', { outside: 10 }],
  ['garbage had', { resident: 300 }],
  ['files grew', { files: 60 }],
  ['handles grew', { handles: 60 }],
  ['a write-ahead log had', { log: 60 }],
])('%s is said of what does', (sentence, growth) => {
  expect(judge(looks(growth)).join()).toMatch(new RegExp(`^${sentence}`))
})

test('what came before enough flows is warm-up, and with nothing after it nothing is judged', () => {
  expect(Math.min(...settled(looks({}, 2_000)).map(({ flows }) => flows))).toBeGreaterThanOrEqual(warmUpFlows)
  expect(judge(looks({}, 500)).join()).toContain('too few')
})
