/** Display names of a held credential and its claims, from the metadata of its issuer. */
import { chooseByLocale } from '../../src/foundation/locale.ts'
import type { Answer } from '../client/api.ts'
import { claimPairs, pathOf } from './credential.ts'
import { localesOf } from './locale.ts'

type Record = Answer<'GET /issue-credentials/records/{recordId}'>
export type Look = NonNullable<NonNullable<Record['openid4vci']>['look']>
type Pair = readonly [name: string, value: unknown]

/** The name, the description and the logo of a credential, in the language of the reader. */
export function lookPairs(look: Look | undefined, wanted = localesOf()): Pair[] {
  const { name, description, logo } = chooseByLocale(look?.display ?? [], wanted) ?? {}
  return [
    ['name', name],
    ['description', description],
    ['logo', logo],
    ['look', look?.note],
  ]
}

/**
 * The claims of a credential in the order of the issuer, with its labels behind the word `claim`, so that no
 * label looks like another field.
 */
export function labelledClaims(
  claims: Readonly<globalThis.Record<string, unknown>>,
  look: Look | undefined,
  wanted = localesOf(),
): Pair[] {
  const labels = new Map<string, { label: string | undefined; place: number }>()
  for (const [place, { path, labels: all }] of (look?.claims ?? []).entries()) {
    if (!path.every((part) => typeof part === 'string')) continue
    const described = { label: chooseByLocale(all, wanted)?.name, place }
    // The elements of an mdoc follow their namespace, and have names without it.
    for (const names of [path, path.slice(1)]) {
      const key = pathOf(names)
      if (key !== '' && !labels.has(key)) labels.set(key, described)
    }
  }
  const nameOf = (key: string) => key.replace(/^claim /, '')
  const placeOf = ([key]: Pair) => labels.get(nameOf(key))?.place ?? Infinity
  const pairs = claimPairs(claims)
  const isGrouped = pairs.some(([key]) => key === 'namespace')
  const ordered = isGrouped ? pairs : pairs.toSorted((a, b) => compare(placeOf(a), placeOf(b)))
  return ordered.map(([key, value]): Pair => {
    const label = key === 'namespace' ? undefined : labels.get(nameOf(key))?.label
    return [label === undefined || label === nameOf(key) ? key : `claim ${label} (${nameOf(key)})`, value]
  })
}

const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1)
