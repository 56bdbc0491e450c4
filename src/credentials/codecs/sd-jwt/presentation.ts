/**
 * Presentations of an SD-JWT (RFC 9901 §4.3): the holder discloses claims with a key binding.
 * `src/credentials/formats/sd-jwt/presentation.ts` verifies them.
 */
import type { PrivateJwk } from '../../../foundation/crypto/keys.ts'
import { isJsonObject, type JsonObject } from '../../../foundation/json.ts'
import { signJws } from '../jws.ts'
import { digestBy } from './disclosure.ts'
import { registeredClaims, type DecodedSdJwt } from './sd-jwt.ts'

/** The SD-JWT with some of its disclosures, without a key binding. */
export function discloseClaims(
  { sdJwt }: Pick<DecodedSdJwt, 'sdJwt'>,
  disclosed: DecodedSdJwt['disclosures'],
): string {
  const jwt = sdJwt.slice(0, sdJwt.indexOf('~'))
  return [jwt, ...disclosed.map(({ encoded }) => encoded), ''].join('~')
}

/** Adds a key binding to disclosed claims (RFC 9901 §4.3). `now` is in epoch seconds. */
export function bindPresentation(
  presented: string,
  { payload }: Pick<DecodedSdJwt, 'payload'>,
  binding: { audience: string; nonce: string; holderKey: PrivateJwk; now: number },
): string {
  const { audience, nonce, now, holderKey } = binding
  const claims = {
    iat: Math.floor(now),
    aud: audience,
    nonce,
    sd_hash: digestBy(payload['_sd_alg'])(presented),
  }
  return presented + signJws({ typ: 'kb+jwt' }, claims, holderKey)
}

/**
 * The path of the first requested claim that a credential does not have. Registered claims are always
 * disclosed.
 */
export function findMissing(claims: JsonObject, requested: JsonObject): string | undefined {
  const disclosable = Object.entries(requested).filter(
    ([name]) => !(registeredClaims as readonly string[]).includes(name),
  )
  return findMissingIn(claims, Object.fromEntries(disclosable))
}

/**
 * Whether a claim is requested, is below a requested claim, or contains one. A non-empty object as value
 * names claims below; other values are ignored.
 */
export function isRequested(requested: JsonObject, path: readonly string[]): boolean {
  let level: unknown = requested
  for (const [depth, name] of path.entries()) {
    // A name without names below it requests the whole claim.
    if (!isJsonObject(level) || (depth > 0 && Object.keys(level).length === 0)) return true
    if (!Object.hasOwn(level, name)) return false
    level = level[name]
  }
  return true
}

/**
 * The path of the first requested claim that is not there. Array elements are not checked, because
 * undisclosed elements leave no gap.
 */
export function findMissingIn(
  claims: unknown,
  requested: JsonObject,
  path: readonly string[] = [],
): string | undefined {
  if (Array.isArray(claims)) return undefined
  for (const [name, below] of Object.entries(requested)) {
    const memberPath = [...path, name]
    if (!isJsonObject(claims) || !Object.hasOwn(claims, name)) return memberPath.join('.')
    const missing = isJsonObject(below) ? findMissingIn(claims[name], below, memberPath) : undefined
    if (missing !== undefined) return missing
  }
  return undefined
}
