/** Claims path pointers applied to JSON credentials (OpenID4VP 1.0 §7.1.1). */
import { isJsonObject } from '../../foundation/json.ts'
import { VerificationError } from '../codecs/verification-error.ts'
import type { ClaimsPath } from './query.ts'

/**
 * The limit of work to compare one credential with one query, both of which others may have written: the
 * elements that paths pass, and the disclosures times the paths. It is some 20 ms.
 */
const maxSteps = 200_000

/**
 * The elements of a credential on a path. Undefined if the path does not fit the credential, or selects
 * nothing.
 */
export type Select = (path: ClaimsPath) => ReadonlySet<unknown> | undefined

/**
 * Selects elements of one credential for all claims of a query. Each path is followed once. It throws a
 * `VerificationError` after `maxSteps`.
 */
export function createSelect(root: unknown): Select {
  const known = new Map<string, ReadonlySet<unknown> | undefined>()
  let steps = 0
  const count = (passed: number) => assertFew((steps += passed))
  return (path) => {
    const key = JSON.stringify(path)
    if (!known.has(key)) {
      const selected = selectClaims(root, path, count)
      known.set(key, selected && new Set(selected))
    }
    return known.get(key)
  }
}

function assertFew(steps: number): void {
  if (steps > maxSteps)
    throw new VerificationError(
      'too-large',
      'The credential has too many elements to compare it with so many claims: name fewer claims',
    )
}

/**
 * The selected elements. Undefined if the path does not fit the credential, or selects nothing. Holes in
 * arrays are not selected.
 */
export function selectClaims(
  root: unknown,
  path: ClaimsPath,
  count: (passed: number) => void = () => {},
): unknown[] | undefined {
  let selected: unknown[] = [root]
  for (const component of path) {
    const isArrayStep = typeof component !== 'string'
    if (selected.some((element) => (isArrayStep ? !Array.isArray(element) : !isJsonObject(element))))
      return undefined
    selected = selected.flatMap((element) => step(element, component))
    count(selected.length)
  }
  return selected.length > 0 ? selected : undefined
}

/** The elements one step below. `flatMap` skips their holes. */
function step(element: unknown, component: ClaimsPath[number]): unknown[] {
  if (typeof component === 'string') {
    const object = element as Record<string, unknown>
    return Object.hasOwn(object, component) ? [object[component]] : []
  }
  const array = element as unknown[]
  return component === null ? array : array.slice(component, component + 1)
}

/**
 * Asserts that disclosed claims can be compared with requested ones by `selectDisclosures`.
 *
 * @throws {VerificationError} `too-large`
 */
export function assertComparable(disclosed: { length: number }, asked: { length: number }): void {
  assertFew(disclosed.length * asked.length)
}

/**
 * The disclosed claims of an SD-JWT that contain a requested one, or are in one.
 *
 * @throws {VerificationError} `too-large`
 */
export function selectDisclosures<Disclosure extends { path: readonly string[] }>(
  disclosed: readonly Disclosure[],
  asked: readonly ClaimsPath[],
): Disclosure[] {
  assertComparable(disclosed, asked)
  return disclosed.filter(({ path }) => asked.some((each) => isOnPath(each, path)))
}

/**
 * Whether a requested path leads to a disclosed claim, or through it. Elements of arrays have their index as
 * text.
 */
export function isOnPath(asked: ClaimsPath, disclosed: readonly string[]): boolean {
  return disclosed.every((name, depth) => {
    const component = asked[depth]
    if (component === undefined) return true
    return component === null ? /^\d+$/.test(name) : String(component) === name
  })
}
