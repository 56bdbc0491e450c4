/** Claims from flags: `name=value`, `age:=42`, `@file.json`, and paths such as `address.city`. */
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../errors/errors.ts'
import { repeatable } from './arguments.ts'
import { type Json, readObject } from './files.ts'

export const claimFlags = {
  claim: Flags.string({ ...repeatable, description: 'a claim: name=text, or name:=json' }),
  claims: Flags.string({
    description: 'all claims as a JSON object: @file.json, @- for standard input, or inline',
  }),
}

/** The identity that the holder of an offer has to log in with. */
export const expectFlag = Flags.string({
  ...repeatable,
  dependsOn: ['oid4vci'],
  description:
    'who has to log in at the provider of the issuer (agent issuer update --log-in): sub=text, or a claim name=text; all must be right, and claims of the offer may be absent',
})

/** @throws {UsageError} when one is not in the form `name=value` or `name:=json` */
export function readExpected(texts: readonly string[] | undefined) {
  if (texts === undefined) return undefined
  const { sub, ...claims } = Object.fromEntries(texts.map((text) => readClaim(text, 'expect')))
  return {
    ...(sub !== undefined && { sub: typeof sub === 'string' ? sub : JSON.stringify(sub) }),
    ...(Object.keys(claims).length > 0 && { claims }),
  }
}

/**
 * Reads all claims. `--claim` overrides `--claims`.
 *
 * @throws {UsageError} when there is none, one is named twice, or one is not in the form `name=value` or
 * `name:=json`.
 */
export function readClaims(flags: {
  claim?: readonly string[] | undefined
  claims?: string | undefined
  template?: string | undefined
}): Record<string, Json> {
  const pairs = (flags.claim ?? []).map((text) => readClaim(text))
  const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) !== index)
  if (twice) throw new UsageError(`--claim names ${JSON.stringify(twice[0])} twice.`)
  const claims = {
    ...(flags.claims !== undefined && readObject('claims', flags.claims)),
    ...Object.fromEntries(pairs),
  }
  if (Object.keys(claims).length === 0)
    throw new UsageError(
      'There are no claims: give --claim name=value, or --claims @file.json.',
      flags.template === undefined ? undefined : `agent template show ${flags.template}`,
    )
  return claims
}

/** Reads all claims, if a flag gives any. @throws {UsageError} as `readClaims` */
export function readGivenClaims(flags: Parameters<typeof readClaims>[0]) {
  return flags.claim === undefined && flags.claims === undefined ? undefined : readClaims(flags)
}

/** Reads one claim. The first `=` ends its name; a colon before it marks a JSON value. */
function readClaim(text: string, flag = 'claim'): [name: string, value: Json] {
  const equals = text.indexOf('=')
  const isJson = text[equals - 1] === ':'
  const name = text.slice(0, isJson ? equals - 1 : equals)
  if (equals === -1 || name === '')
    throw new UsageError(`--${flag} ${JSON.stringify(text)} is not in the form name=value, or name:=json.`)
  const value = text.slice(equals + 1)
  if (!isJson) return [name, value]
  try {
    return [name, JSON.parse(value) as Json]
  } catch {
    throw new UsageError(`--${flag} ${name}: the value after := is not JSON. For a text write ${name}=value.`)
  }
}

export type ClaimNames = { [name: string]: ClaimNames }

/**
 * Reads paths of claims, with dots between names and `\.` for a dot in a name. Returns nested objects, as the
 * API takes them.
 *
 * @throws {UsageError} when a path has an empty name, or overlaps with another path.
 */
export function readClaimNames(paths: readonly string[]): ClaimNames {
  const names = new Tree()
  for (const path of paths) {
    const place = path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))
    if (place.includes(''))
      throw new UsageError(
        `--claim ${JSON.stringify(path)} is not a path of a claim. Write names with dots between them: address.city.`,
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
        `--claim ${path} overlaps with another --claim. Name either the whole claim or its parts.`,
      )
    const next = known ?? new Tree()
    this.#below.set(name!, next)
    if (rest.length > 0) next.add(rest, path)
  }

  /** Makes own properties, even of a claim named `__proto__`. */
  toObject(): ClaimNames {
    return Object.fromEntries([...this.#below].map(([name, below]) => [name, below.toObject()]))
  }
}
