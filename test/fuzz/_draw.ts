/** What is drawn by chance, the same for the same seed: choices by a generator of numbers, values by fast-check's arbitraries. */
import fc from 'fast-check'
import { createRandom } from '../_random.mjs'

export type Draw = {
  /** True this often, of 1. */
  share(of: number): boolean
  /** A whole number from 0 to below `end`. */
  below(end: number): number
  /** One of a list that is not empty. */
  of<Item>(list: readonly Item[]): Item
  /** One of several kinds of things, by their weights. */
  kind<Name extends string>(weights: Readonly<Record<Name, number>>): Name
  from<Value>(arbitrary: fc.Arbitrary<Value>): Value
}

/** Draws of one case: of a run's seed, and its number. */
export function createDraw(seed: number, number: number): Draw {
  const random = createRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b))
  const below = (end: number) => Math.floor(random() * end)
  return {
    share: (of) => random() < of,
    below,
    of: (list) => list[below(list.length)]!,
    kind(weights) {
      const entries = Object.entries<number>(weights)
      let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      return (entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0]!)[0] as keyof typeof weights
    },
    from: (arbitrary) => fc.sample(arbitrary, { seed: below(2 ** 31), numRuns: 1 })[0]!,
  }
}
