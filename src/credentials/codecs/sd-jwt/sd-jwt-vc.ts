/**
 * Issues SD-JWT VCs of the media type `dc+sd-jwt` (draft-ietf-oauth-sd-jwt-vc): the type metadata says which
 * claims are selectively disclosable, and the credential is bound to a key, without a DID of the holder.
 */
import type { JsonObject } from '../../../foundation/json.ts'
import { type PrivateJwk, type PublicJwk, toPublic } from '../../../foundation/crypto/keys.ts'
import { signJws } from '../jws.ts'
import { findReserved, pack } from './disclosure.ts'
import { registeredClaims } from './sd-jwt.ts'
import { disclosureOf, findMissing, type TypeMetadata } from './type-metadata.ts'

/** Times are in epoch seconds. */
export type SdJwtVcContent = {
  /** For `iss`: a DID, or the URI in the certificate. */
  issuer: string
  issuerKey: PrivateJwk
  /** A DID URL. */
  kid?: string | undefined
  /** The certificates of the key. */
  x5c?: readonly string[] | undefined
  /** Contains none of `registeredClaims`. */
  claims: JsonObject
  type: TypeMetadata
  /** For `vct#integrity`: that of the type metadata as they are served at `vct`, if they are. */
  integrity?: string | undefined
  /** For `aka_vcts`: the types that the type extends. */
  akaVcts?: readonly string[] | undefined
  /** For `cnf`. Without it, anyone who has the credential can present it. */
  holderKey?: PublicJwk | undefined
  /** For `status`. */
  status?: JsonObject | undefined
  issuedAt: number
  expiresAt?: number | undefined
}

/**
 * Signs a credential. Returns it with all disclosures. Claims that the type allows to be selectively
 * disclosable, or does not describe, are.
 *
 * @throws {TypeError} for a reserved name, or a mandatory claim that is missing
 */
export function issueSdJwtVc(content: SdJwtVcContent): string {
  const { issuer, issuerKey, kid, x5c, claims, type, integrity, akaVcts, holderKey } = content
  const { status, issuedAt, expiresAt } = content
  const taken = registeredClaims.find((name) => Object.hasOwn(claims, name)) ?? findReserved(claims)?.at(-1)
  if (taken !== undefined) throw new TypeError(`the name ${taken} is reserved in SD-JWT VCs`)
  const missing = findMissing(type, claims)
  if (missing) throw new TypeError(`the type ${type.vct} requires the claim ${missing.path.join('.')}`)
  const { payload, disclosures } = pack(claims, (path) => disclosureOf(type, path) !== 'never')
  const token = {
    ...payload,
    _sd_alg: 'sha-256',
    iss: issuer,
    iat: issuedAt,
    ...(expiresAt !== undefined && { exp: expiresAt }),
    vct: type.vct,
    ...(integrity !== undefined && { 'vct#integrity': integrity }),
    ...(akaVcts && { aka_vcts: akaVcts }),
    ...(holderKey && { cnf: { jwk: toPublic(holderKey) } }),
    ...(status && { status }),
  }
  return [signJws({ typ: 'dc+sd-jwt', kid, x5c }, token, issuerKey), ...disclosures, ''].join('~')
}
