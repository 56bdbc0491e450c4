/**
 * Random draws that are reproducible by seed: choices from a number generator, values from fast-check
 * arbitraries.
 */
import fc from 'fast-check'
import { createRandom } from '../support/random.mjs'

export type Draw = {
  /** True with this probability. */
  share(of: number): boolean
  /** An integer in [0, end). */
  below(end: number): number
  /** An element of a non-empty list. */
  of<Item>(list: readonly Item[]): Item
  /** A key, chosen by weight. */
  kind<Name extends string>(weights: Readonly<Record<Name, number>>): Name
  from<Value>(arbitrary: fc.Arbitrary<Value>): Value
}

/** The draws of one case, determined by seed and case number. */
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
