/** Issues SD-JWTs: those of Cloud Agents, and SD-JWT VCs of a type with metadata. */
import { Problem } from '../../../foundation/problem.ts'
import { findReserved } from '../../codecs/sd-jwt/disclosure.ts'
import { anyCredential, issueSdJwt, registeredClaims } from '../../codecs/sd-jwt/sd-jwt.ts'
import { issueSdJwtVc } from '../../codecs/sd-jwt/sd-jwt-vc.ts'
import { findDifference as compare } from '../difference.ts'
import type { Decoded, Signing, Terms } from '../format.ts'

const isRegistered = (name: string) => (registeredClaims as readonly string[]).includes(name)

/**
 * Claims must not have the names of registered JWT claims, and an SD-JWT has one type.
 *
 * @throws {Problem} 400 with the member
 */
export function checkTerms({ claims, schemaIds, validityPeriod }: Terms): void {
  const { exp, ...others } = claims
  const taken = Object.keys(others).find(isRegistered)
  if (taken !== undefined)
    throw badRequest(`claims.${taken}: this is a registered claim of SD-JWTs. Use another name.`)
  const reservedPath = findReserved(others, ['claims'])
  if (reservedPath)
    throw badRequest(`${reservedPath.join('.')}: this name is reserved in SD-JWTs. Use another name.`)
  if (exp !== undefined) {
    if (typeof exp !== 'number' || exp <= Date.now() / 1_000)
      throw badRequest(
        'claims.exp: in an SD-JWT this is the expiration time and must be in the future, in seconds since 1970.',
      )
    if (validityPeriod !== undefined)
      throw badRequest('claims.exp and validityPeriod both set the expiration time: leave one out.')
  }
  if (schemaIds.length > 1) throw badRequest(`schemaId: an SD-JWT has one schema, not ${schemaIds.length}.`)
}

/** Signs a credential of `terms.type`, if there is one. Returns it with all disclosures. */
export function signSdJwt(
  { claims: { exp, ...claims }, schemaIds, issuingKid, validityPeriod, type }: Terms,
  { keyId, x5c, defaultPeriod, tokenStatus, ...signing }: Signing,
): string {
  const { issuerDid, issuerKey, holderKey, now } = signing
  // The claim `exp` of an offer is the expiration time of its credential.
  const expiresAt = typeof exp === 'number' ? exp : now + (validityPeriod ?? defaultPeriod)
  const kid = `${issuerDid}#${keyId}`
  if (!type || !('metadata' in type)) {
    const vct = schemaIds[0] ?? anyCredential
    // Wallets accept a whole DID URL or no `kid`.
    return issueSdJwt({ ...signing, claims, kid: issuingKid === undefined ? undefined : kid, vct, expiresAt })
  }
  return issueSdJwtVc({
    issuer: issuerDid,
    issuerKey,
    ...(x5c ? { x5c } : { kid }),
    claims,
    type: type.metadata,
    integrity: type.integrity,
    akaVcts: type.akaVcts,
    holderKey,
    status: tokenStatus,
    issuedAt: now,
    expiresAt: Math.floor(expiresAt),
  })
}

/**
 * Registered claims other than `exp` are not compared. The type is compared only if the offer has a schema
 * and the credential a type; the Cloud Agent issues credentials without a type.
 */
export function findDifference(
  { claims: issued, types, signed }: Decoded,
  { claims, schemaIds }: Terms,
): string | undefined {
  const offered = Object.fromEntries(Object.entries(claims).filter(([name]) => !isRegistered(name)))
  if (typeof claims['exp'] === 'number' && signed.payload['exp'] !== Math.floor(claims['exp']))
    return 'it does not end when the offer says'
  const isTyped = schemaIds.length > 0 && types.length > 0
  return compare(
    { claims: offered, schemas: isTyped ? schemaIds : [] },
    { claims: issued, schemas: isTyped ? types : [] },
  )
}

function badRequest(detail: string): Problem {
  return new Problem('BadRequest', detail)
}
