/** Claims as a person reads them: one a line, a claim within another by its path. */
import { safeLine } from './safe.ts'

type Pair = readonly [name: string, value: unknown]

/** A claim within others by its path, such as `address.city`. A dot in a name is written `\.`, as `--claim` reads it. */
export function pathOf(names: readonly string[]): string {
  return names.map((name) => safeLine(name).replaceAll('.', '\\.')).join('.')
}

/** Names and values of claims, such as `claim address.city`; lists stay whole. */
export function claimPairs(claims: Readonly<Record<string, unknown>>, above = 'claim '): Pair[] {
  return Object.entries(claims).flatMap(([name, value]): Pair[] => {
    const path = above + pathOf([name])
    const isObject =
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    return isObject ? claimPairs(value as Record<string, unknown>, `${path}.`) : [[path, value]]
  })
}
