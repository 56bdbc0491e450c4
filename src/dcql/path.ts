/** Claims path pointers applied to JSON credentials (OpenID4VP 1.0 §7.1.1). */
import { isJsonObject } from '../base/json.ts'
import type { ClaimsPath } from './query.ts'

/** The selected elements. Undefined if the path does not fit the credential, or selects nothing. Holes in arrays are not selected. */
export function selectClaims(root: unknown, path: ClaimsPath): unknown[] | undefined {
  let selected: unknown[] = [root]
  for (const component of path) {
    const isArrayStep = typeof component !== 'string'
    if (selected.some((element) => (isArrayStep ? !Array.isArray(element) : !isJsonObject(element))))
      return undefined
    selected = selected.flatMap((element) => step(element, component))
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

/** Whether a disclosed claim of an SD-JWT contains a requested one, or is in it. Elements of arrays have their index as text. */
export function isOnPath(asked: ClaimsPath, disclosed: readonly string[]): boolean {
  return disclosed.every((name, depth) => {
    const component = asked[depth]
    if (component === undefined) return true
    return component === null ? /^\d+$/.test(name) : String(component) === name
  })
}
