/** Claims path pointers applied to JSON credentials (OpenID4VP 1.0 §7.1.1). */
import { isJsonObject } from '../base/json.ts'
import type { ClaimsPath } from './query.ts'

/**
 * How an index is read. A presented SD-JWT leaves out the elements that are not disclosed, and those that follow move to the front: the
 * element is then at its index or before it.
 */
export type Indexes = 'exact' | 'moved'

/** The selected elements. Undefined if the path does not fit the credential, or selects nothing. */
export function selectClaims(
  root: unknown,
  path: ClaimsPath,
  indexes: Indexes = 'exact',
): unknown[] | undefined {
  let selected: unknown[] = [root]
  for (const component of path) {
    const isArrayStep = typeof component !== 'string'
    if (selected.some((element) => (isArrayStep ? !Array.isArray(element) : !isJsonObject(element))))
      return undefined
    selected = selected.flatMap((element) => step(element, component, indexes))
  }
  return selected.length > 0 ? selected : undefined
}

function step(element: unknown, component: ClaimsPath[number], indexes: Indexes): unknown[] {
  if (typeof component === 'string') {
    const object = element as Record<string, unknown>
    return Object.hasOwn(object, component) ? [object[component]] : []
  }
  const array = element as unknown[]
  if (component === null) return array
  return indexes === 'exact' ? array.slice(component, component + 1) : array.slice(0, component + 1)
}

/** Whether a disclosed claim contains a requested one, or is in it. Elements of arrays have their index as text. */
export function isOnPath(asked: ClaimsPath, disclosed: readonly string[]): boolean {
  return disclosed.every((name, depth) => {
    const component = asked[depth]
    if (component === undefined) return true
    return component === null ? /^\d+$/.test(name) : String(component) === name
  })
}
