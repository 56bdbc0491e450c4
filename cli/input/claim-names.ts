/** Claims that are named, not given: `--claim name --claim address.city`. */
import { UsageError } from '../errors/usage.ts'

export type ClaimNames = { [name: string]: ClaimNames }

/**
 * Reads paths of claims, with dots between names and `\.` for a dot in a name, as the API wants them: objects within objects.
 *
 * @throws {UsageError} when a path has an empty name, or one claim is within another that is named as a whole.
 */
export function readClaimNames(paths: readonly string[]): ClaimNames {
  const names = new Tree()
  for (const path of paths) {
    const place = path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))
    if (place.includes(''))
      throw new UsageError(
        `--claim ${JSON.stringify(path)} names no claim. Write names with dots between them: address.city.`,
      )
    names.add(place, path)
  }
  return names.toObject()
}

class Tree {
  readonly #below = new Map<string, Tree>()

  add([name, ...rest]: readonly string[], path: string): void {
    const known = this.#below.get(name!)
    if (known && (rest.length === 0) !== (known.#below.size === 0))
      throw new UsageError(
        `--claim ${path} is one with, or within, another --claim. Name the whole claim, or what you want of it.`,
      )
    const next = known ?? new Tree()
    this.#below.set(name!, next)
    if (rest.length > 0) next.add(rest, path)
  }

  /** Own members, be they called `__proto__`. */
  toObject(): ClaimNames {
    return Object.fromEntries([...this.#below].map(([name, below]) => [name, below.toObject()]))
  }
}
