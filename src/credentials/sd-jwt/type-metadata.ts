/**
 * Type metadata of SD-JWT VCs (draft-ietf-oauth-sd-jwt-vc, "SD-JWT VC Type Metadata"): integrity of the
 * document, and which claims must, may or must not be selectively disclosable.
 */
import { hash } from 'node:crypto'
import * as z from 'zod'
import { fromBase64 } from '../../base/bytes.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import { reasonOf } from '../../base/reason.ts'
import { VerificationError } from '../verification-error.ts'
import { readDisclosure } from './disclosure.ts'
import type { SdJwtClaimsSet } from './sd-jwt.ts'

/** A string is a member of an object, a number an index of an array, null all elements of an array. */
const ClaimPath = z.array(z.union([z.string(), z.int().nonnegative(), z.null()])).min(1)

const ClaimMetadata = z.looseObject({
  path: ClaimPath,
  sd: z.enum(['always', 'allowed', 'never']).optional(),
  mandatory: z.boolean().optional(),
})
export type ClaimMetadata = z.infer<typeof ClaimMetadata>

export const TypeMetadata = z.looseObject({
  vct: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
  extends: z.never('is not supported: give the metadata with what it extends').optional(),
  claims: z.array(ClaimMetadata).max(500).optional(),
})
export type TypeMetadata = z.infer<typeof TypeMetadata>

/** A claim of a credential. `value` may contain digests. */
type Claim = { path: (string | number)[]; value: unknown; isDisclosable: boolean }

/** Hash functions of integrity metadata (W3C SRI §3.2), the strongest first. */
const algorithms = ['sha512', 'sha384', 'sha256'] as const

/** The integrity metadata of a document, for `vct#integrity`. */
export function integrityOf(document: Uint8Array): string {
  return `sha256-${hash('sha256', document, 'base64')}`
}

/**
 * Parses the type metadata of a credential, after checking the document against `vct#integrity`, if there is
 * one, and its `vct` against that of the credential.
 *
 * @throws {VerificationError} `malformed`
 */
export function readTypeMetadata(
  document: Uint8Array,
  { vct, payload }: Pick<SdJwtClaimsSet, 'vct' | 'payload'>,
): TypeMetadata {
  const integrity = payload['vct#integrity']
  if (integrity !== undefined) checkIntegrity(document, integrity)
  let type: TypeMetadata
  try {
    type = TypeMetadata.parse(parseJson(document))
  } catch (cause) {
    throw refused(`is invalid: ${reasonOf(cause)}`, cause)
  }
  if (type.vct !== vct) throw refused('describes another vct than that of the credential')
  return type
}

/** Only the expressions of the strongest function count, and one of them must match. */
function checkIntegrity(document: Uint8Array, integrity: unknown): void {
  const expressions = typeof integrity === 'string' ? integrity.trim().split(/\s+/) : []
  for (const algorithm of algorithms) {
    const wanted = expressions.filter((expression) => expression.startsWith(`${algorithm}-`))
    if (wanted.length === 0) continue
    const digest = hash(algorithm, document, 'buffer')
    const isSame = (expression: string) => {
      const [text] = expression.slice(algorithm.length + 1).split('?')
      return Buffer.from(fromBase64(text!)).equals(digest)
    }
    try {
      if (wanted.some(isSame)) return
    } catch {
      // Not base64.
    }
    throw refused('is not the document that vct#integrity names')
  }
  throw refused('has an integrity that names no supported hash function')
}

/** Whether the claims at a path must, may or must not be selectively disclosable. Default: `allowed`. */
export function disclosureOf(
  { claims = [] }: Pick<TypeMetadata, 'claims'>,
  path: readonly (string | number)[],
): NonNullable<ClaimMetadata['sd']> {
  const rules = claims.flatMap(({ path: pattern, sd }) =>
    sd !== undefined && sd !== 'allowed' && pattern.length === path.length && fits(pattern, path) ? [sd] : [],
  )
  if (rules.includes('always') && rules.includes('never'))
    throw refused(`says always and never about the claim ${path.join('.')}`)
  return rules[0] ?? 'allowed'
}

/** The first mandatory path that selects no claim. Claims are complete, without digests. */
export function findMissing({ claims = [] }: TypeMetadata, complete: JsonObject): ClaimMetadata | undefined {
  const present = listClaims(complete, [])
  return claims.find(
    ({ path, mandatory }) =>
      mandatory === true &&
      !present.some((claim) => claim.path.length === path.length && fits(path, claim.path)),
  )
}

/**
 * Checks the disclosed claims of a credential against its type: the kinds of values along each path, and the
 * selective disclosure. `isComplete` means that the holder has all disclosures, and checks mandatory claims too.
 *
 * @throws {VerificationError} `malformed`
 */
export function checkType(
  { payload, disclosures, processed }: Pick<SdJwtClaimsSet, 'payload' | 'disclosures' | 'processed'>,
  type: TypeMetadata,
  { isComplete = false } = {},
): void {
  for (const { path, value, isDisclosable } of [
    { path: [], value: payload, isDisclosable: false },
    ...listClaims(payload, disclosures),
  ]) {
    const name = path.join('.')
    for (const { path: pattern } of type.claims ?? []) {
      const next = pattern[path.length]
      if (next === undefined || !fits(pattern, path)) continue
      if (typeof next === 'string' ? !isJsonObject(value) : !Array.isArray(value))
        throw refused(
          `expects ${typeof next === 'string' ? 'an object' : 'an array'} in the claim ${name || 'root'}`,
        )
    }
    if (path.length === 0) continue
    const rule = disclosureOf(type, path)
    if (rule === 'always' && !isDisclosable)
      throw refused(`requires selective disclosure of the claim ${name}`)
    if (rule === 'never' && isDisclosable) throw refused(`forbids selective disclosure of the claim ${name}`)
  }
  const missing = isComplete ? findMissing(type, processed) : undefined
  if (missing)
    throw refused(`requires the claim ${missing.path.join('.')}, which the credential does not have`)
}

/** Whether a pattern, or its start, selects a path. */
function fits(pattern: ClaimMetadata['path'], path: readonly (string | number)[]): boolean {
  return (
    path.length <= pattern.length &&
    path.every((part, i) => part === pattern[i] || (pattern[i] === null && typeof part === 'number'))
  )
}

/** All claims with their paths as issued: the indexes of an array count its elements that are not disclosed. */
function listClaims(payload: JsonObject, disclosures: SdJwtClaimsSet['disclosures']): Claim[] {
  const keyOf = (path: Claim['path']) => JSON.stringify(path.map(String))
  const disclosed = new Map<string, unknown>()
  /** The names of disclosed members by the path of their object. */
  const members = new Map<string, string[]>()
  for (const { path, encoded } of disclosures) {
    const parent = keyOf(path.slice(0, -1))
    disclosed.set(keyOf(path), readDisclosure(encoded).value)
    const names = members.get(parent)
    if (names) names.push(path.at(-1)!)
    else members.set(parent, [path.at(-1)!])
  }
  const all: Claim[] = []
  const add = (path: Claim['path'], value: unknown, isDisclosable: boolean) => {
    all.push({ path, value, isDisclosable })
    walk(path, value)
  }
  function walk(path: Claim['path'], value: unknown): void {
    if (Array.isArray(value)) value.forEach((element, i) => addElement([...path, i], element))
    if (!isJsonObject(value)) return
    for (const [name, member] of Object.entries(value))
      if (name !== '_sd' && name !== '_sd_alg') add([...path, name], member, false)
    for (const name of members.get(keyOf(path)) ?? [])
      add([...path, name], disclosed.get(keyOf([...path, name])), true)
  }
  function addElement(path: Claim['path'], element: unknown): void {
    if (!isJsonObject(element) || !Object.hasOwn(element, '...')) return add(path, element, false)
    if (disclosed.has(keyOf(path))) add(path, disclosed.get(keyOf(path)), true)
  }
  walk([], payload)
  return all
}

function refused(reason: string, cause?: unknown): VerificationError {
  return new VerificationError('malformed', `The type metadata ${reason}`, { cause })
}
