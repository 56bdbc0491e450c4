/**
 * Reads type metadata, and checks SD-JWT VCs by them (draft-ietf-oauth-sd-jwt-vc, "SD-JWT VC Type Metadata"),
 * as a wallet or a verifier may.
 */
import { hash } from 'node:crypto'
import { fromBase64 } from '../../../foundation/bytes.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../../foundation/json.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { readDisclosure } from './disclosure.ts'
import type { SdJwtClaimsSet } from './sd-jwt.ts'
import { disclosureOf, findMissing, TypeMetadata } from './type-metadata.ts'
import { VerificationError } from '../verification-error.ts'

/** A claim of a credential. `value` may contain digests. */
type Claim = { path: (string | number)[]; value: unknown; isDisclosable: boolean }

/** Hash functions of integrity metadata (W3C SRI §3.2), the strongest first. */
const algorithms = ['sha512', 'sha384', 'sha256'] as const

/**
 * Parses type metadata, after checking the document against its integrity, if there is one, and its `vct`.
 *
 * @throws {VerificationError} `malformed`
 */
export function readTypeMetadata(
  document: Uint8Array,
  { vct, integrity }: { vct: string; integrity: unknown },
): TypeMetadata {
  if (integrity !== undefined) checkIntegrity(document, integrity)
  let type: TypeMetadata
  try {
    type = TypeMetadata.parse(parseJson(document))
  } catch (cause) {
    throw refused(`is invalid: ${reasonOf(cause)}`, cause)
  }
  if (type.vct !== vct) throw refused('describes another vct')
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
    throw refused('is not the document that its integrity names')
  }
  throw refused('has an integrity that names no supported hash function')
}

/**
 * Checks the disclosed claims of a credential against its type: the kinds of values along each path, and the
 * selective disclosure. `isComplete` means that the holder has all disclosures, and checks mandatory claims
 * too.
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
function fits(pattern: readonly (string | number | null)[], path: readonly (string | number)[]): boolean {
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
