/** Credentials as SD-JWTs (wire.md 4.5). */
import { Problem } from '../../../base/problem.ts'
import { reserved } from '../../../credentials/sd-jwt/disclosure.ts'
import {
  anyCredential,
  decodeSdJwt,
  issueSdJwt,
  registeredClaims,
  verifySdJwt,
  type DecodedSdJwt,
} from '../../../credentials/sd-jwt/sd-jwt.ts'
import type { PublicJwk } from '../../../crypto/keys.ts'
import { findKeyPair } from '../../../did-registrar/keys.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { CredentialRecord } from '../model.ts'
import { findMismatch } from '../refusals.ts'
import { tokenFormat } from './token.ts'

export const sdJwt = tokenFormat({
  format: 'SDJWT',

  // The real agent issues and verifies SD-JWTs on Ed25519 alone.
  curve: 'Ed25519',

  /** An SD-JWT has the claims beside its own, and one type. */
  checkTerms({ claims, schemaIds, validityPeriod }) {
    const { exp, ...others } = claims
    const taken = Object.keys(others).find((name) => (registeredClaims as readonly string[]).includes(name))
    if (taken !== undefined)
      throw unfit(`claims.${taken}: an SD-JWT has a claim of this name of its own. Call it something else.`)
    const reservedPath = findReserved(others, ['claims'])
    if (reservedPath)
      throw unfit(
        `${reservedPath.join('.')}: no claim in an SD-JWT can have this name. Call it something else.`,
      )
    if (exp !== undefined) {
      if (typeof exp !== 'number' || exp <= Date.now() / 1_000)
        throw unfit(
          'claims.exp: in an SD-JWT this is when the credential ends, a time to come in seconds since 1970.',
        )
      if (validityPeriod !== undefined)
        throw unfit('claims.exp and validityPeriod both say when the credential ends: leave one out.')
    }
    if (schemaIds.length > 1) throw unfit(`schemaId: an SD-JWT is of one schema, not of ${schemaIds.length}.`)
  },

  /**
   * It is bound to the key that proved the subject if the request names it by its bare id, as who is asked for a key does. Wallets that write
   * every `kid` as a DID URL have not been asked, and some of them could present nothing that is bound.
   */
  boundTo: (key, kid) => (kid !== undefined && !kid.includes('#') ? { holderKey: key.publicKeyJwk } : {}),

  sign(wallet, { claims, schemaIds, issuingKid, validityPeriod, holderKey }, { keyId, ...signing }) {
    const { exp, ...others } = claims
    const { now, issuerDid } = signing
    return issueSdJwt({
      ...signing,
      claims: others,
      // Wallets take the whole DID URL or nothing (wire.md 4.5).
      ...(issuingKid !== undefined && { kid: `${issuerDid}#${keyId}` }),
      vct: schemaIds[0] ?? anyCredential,
      expiresAt:
        typeof exp === 'number' ? exp : now + (validityPeriod ?? wallet.env.config.CREDENTIAL_SD_JWT_EXPIRY),
      ...(holderKey && { holderKey: holderKey as PublicJwk }),
    })
  },

  /** Bound to the key that was named, or else to none or another of the holder's. */
  async verify(wallet, record, token, checks) {
    const verified = await verifySdJwt(token, checks)
    await checkBinding(wallet, record, verified.holderKey)
    return { ...verified, mismatch: compare(record, verified) }
  },

  read(text) {
    const { jws, vct, disclosures, holderKey, ...said } = decodeSdJwt(text)
    return {
      ...said,
      disclosable: disclosures.map(({ path }) => path),
      bound: holderKey !== undefined,
      schemas: vct === undefined ? [] : [vct],
      header: jws.header,
      payload: jws.payload,
    }
  },
})

/**
 * Why a credential is not the one that was offered. Claims with names of the token itself are the token's, but for `exp`. A credential without a type,
 * as the Cloud Agent issues them, and an offer without a schema, leave the type open.
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

/** @throws {TypeError} when whoever has the credential could show it, against the holder's wish, or the holder itself could not. */
async function checkBinding(
  wallet: Wallet,
  { subjectId, keyId }: CredentialRecord,
  holderKey: PublicJwk | undefined,
): Promise<void> {
  if (!holderKey) {
    if (keyId !== undefined)
      throw new TypeError(`it is not bound to the key ${keyId}, which the offer was accepted with`)
    return
  }
  if (subjectId === undefined || !(await findKeyPair(wallet, subjectId, holderKey)))
    throw new TypeError('it is bound to a key that the subject does not have')
}

/** Where a name stands by which SD-JWTs speak of disclosures. */
function findReserved(value: unknown, path: string[]): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, below] of Object.entries(value)) {
    const place = [...path, name]
    const found = reserved.has(name) ? place : findReserved(below, place)
    if (found) return found
  }
  return undefined
}

function unfit(detail: string): Problem {
  return new Problem('BadRequest', detail)
}
