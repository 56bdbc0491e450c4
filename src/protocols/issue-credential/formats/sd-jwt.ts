/** Issuing SD-JWT credentials. */
import type { JsonObject } from '../../../base/json.ts'
import { Problem } from '../../../base/problem.ts'
import { reserved } from '../../../credentials/sd-jwt/disclosure.ts'
import type { Confirmation } from '../../../credentials/sd-jwt/confirmation.ts'
import {
  anyCredential,
  decodeSdJwt,
  issueSdJwt,
  registeredClaims,
  verifySdJwt,
  type DecodedSdJwt,
} from '../../../credentials/sd-jwt/sd-jwt.ts'
import type { PrivateJwk, PublicJwk } from '../../../crypto/keys.ts'
import { didOf, includesDid } from '../../../did/document.ts'
import { findBoundKey } from '../../../did-registrar/holder-key.ts'
import { findKeyPair } from '../../../did-registrar/keys.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { CredentialRecord } from '../model.ts'
import { findMismatch } from '../refusals.ts'
import { tokenFormat, type Token } from './token.ts'

export const sdJwtToken: Token = {
  format: 'SDJWT',

  // The Cloud Agent supports SD-JWTs on Ed25519 only.
  curve: 'Ed25519',

  /** Claims must not have the names of registered JWT claims, and an SD-JWT has one type. */
  checkTerms({ claims, schemaIds, validityPeriod }) {
    const { exp, ...others } = claims
    const taken = Object.keys(others).find((name) => (registeredClaims as readonly string[]).includes(name))
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
  },

  /**
   * Binds the credential to the key that proved the subject if the proof names the key by its bare id, which means that the holder chose it.
   * Wallets that write every `kid` as a DID URL did not choose a key, and some of them cannot present bound credentials.
   */
  boundTo: (key, kid) => (kid !== undefined && !kid.includes('#') ? { holderKey: key.publicKeyJwk } : {}),

  sign(wallet, record, { keyId, ...signing }) {
    const { claims, schemaIds, issuingKid, holderKey } = record
    const { now, issuerDid } = signing
    return issueSdJwt({
      ...signing,
      claims: withoutExpiry(claims),
      // Wallets accept a whole DID URL or no `kid`.
      ...(issuingKid !== undefined && { kid: `${issuerDid}#${keyId}` }),
      vct: schemaIds[0] ?? anyCredential,
      expiresAt: expiryOf(wallet, record, now),
      ...(holderKey && { holderKey: holderKey as PublicJwk }),
    })
  },

  /** Checks the binding: to the chosen key, or without one to any key of the subject or none. */
  async verify(wallet, record, token, checks) {
    const verified = await verifySdJwt(token, checks)
    await checkBinding(wallet, record, verified)
    return { ...verified, mismatch: compare(record, verified) }
  },

  read(text) {
    const { jws, vct, disclosures, isBound: bound, ...said } = decodeSdJwt(text)
    return {
      ...said,
      disclosable: disclosures.map(({ path }) => path),
      bound,
      schemas: vct === undefined ? [] : [vct],
      header: jws.header,
      payload: jws.payload,
    }
  },
}

/** SD-JWTs of DIDComm issuance. */
export const sdJwt = tokenFormat(sdJwtToken)

/** The claim `exp` of an offer is the expiration time of its credential. */
export function withoutExpiry({ exp: _exp, ...claims }: JsonObject): JsonObject {
  return claims
}

/** The expiration time in epoch seconds. */
export function expiryOf(
  { env }: Wallet,
  { claims: { exp }, validityPeriod = env.config.CREDENTIAL_SD_JWT_EXPIRY }: CredentialRecord,
  now: number,
): number {
  return typeof exp === 'number' ? exp : now + validityPeriod
}

/**
 * Why a credential differs from its offer. Registered claims other than `exp` are not compared. The type is compared only if the offer
 * has a schema and the credential a type; the Cloud Agent issues credentials without a type.
 */
function compare(
  { claims, schemaIds }: CredentialRecord,
  { claims: issued, vct, payload }: DecodedSdJwt,
): string | undefined {
  const isRegistered = (name: string) => (registeredClaims as readonly string[]).includes(name)
  const offered = Object.fromEntries(Object.entries(claims).filter(([name]) => !isRegistered(name)))
  if (typeof claims['exp'] === 'number' && payload['exp'] !== Math.floor(claims['exp']))
    return 'it does not end when the offer says'
  const isTyped = schemaIds.length > 0 && vct !== undefined
  return findMismatch(
    { claims: offered, schemas: isTyped ? schemaIds : [] },
    { claims: issued, schemas: isTyped ? [vct] : [] },
  )
}

/** @throws {TypeError} if the credential is not bound to the chosen key, or to a key that the subject does not have */
async function checkBinding(
  wallet: Wallet,
  { subjectId, keyId }: CredentialRecord,
  credential: Pick<DecodedSdJwt, 'isBound' | 'holderKey' | 'holderKid'>,
): Promise<void> {
  if (!credential.isBound) {
    if (keyId !== undefined)
      throw new TypeError(`it is not bound to the key ${keyId}, that the offer was accepted with`)
    return
  }
  if (!(await findKeyOfSubject(wallet, subjectId, credential)))
    throw new TypeError('it is bound to a key that the subject does not have')
}

async function findKeyOfSubject(
  wallet: Wallet,
  subject: string | undefined,
  { holderKey, holderKid }: Confirmation,
): Promise<PrivateJwk | undefined> {
  if (subject === undefined) return undefined
  if (holderKey) return findKeyPair(wallet, subject, holderKey)
  const isOfSubject = holderKid !== undefined && includesDid([subject], didOf(holderKid))
  return isOfSubject ? findBoundKey(wallet, subject, { holderKid }) : undefined
}

/** The path of a claim with a name that SD-JWTs reserve for disclosures. */
function findReserved(value: unknown, path: string[]): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, below] of Object.entries(value)) {
    const here = [...path, name]
    const found = reserved.has(name) ? here : findReserved(below, here)
    if (found) return found
  }
  return undefined
}

function badRequest(detail: string): Problem {
  return new Problem('BadRequest', detail)
}
