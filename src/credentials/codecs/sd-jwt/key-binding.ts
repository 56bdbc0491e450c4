/** Key-binding JWTs (RFC 9901 §4.3): the holder signs the disclosures and the audience with the key in `cnf`. */
import * as z from 'zod'
import { quote } from '../../../foundation/faults.ts'
import { isMediaType } from '../../../foundation/media-type.ts'
import type { PublicJwk } from '../../../foundation/crypto/keys.ts'
import type { Resolve } from '../../../did/document.ts'
import { decodeJws, fitsAlgorithm, isSignedBy, JoseHeader, parseClaims, type Jws } from '../jws.ts'
import { NumericDate } from '../validity.ts'
import { VerificationError } from '../verification-error.ts'
import { holderKeysOf } from './confirmation.ts'
import { digestBy } from './disclosure.ts'
import type { SdJwtClaimsSet } from './sd-jwt.ts'

const KeyBindingClaims = z.looseObject({
  iat: NumericDate,
  aud: z.string(),
  nonce: z.string(),
  sd_hash: z.string(),
})
/** `iat` is in epoch seconds. `sd_hash` is the digest of the SD-JWT before the key binding. */
export type KeyBindingClaims = z.infer<typeof KeyBindingClaims>

/**
 * Decodes a key-binding JWT without verifying its signature.
 *
 * @throws {VerificationError} `too-large`, `malformed`, `algorithm`, `critical-header`
 */
export function readKeyBinding(jwt: string): { jws: Jws; claims: KeyBindingClaims } {
  const jws = decodeJws(jwt)
  if (!isMediaType(jws.header.typ, 'kb+jwt'))
    throw new VerificationError(
      'malformed',
      `The typ of the key binding is ${quote(jws.header.typ)}, not kb+jwt`,
    )
  return { jws, claims: parseClaims(KeyBindingClaims, jws.payload) }
}

/**
 * Checks the signature and `sd_hash` of the key binding, if there is one. Audience, nonce and times are
 * checked in `src/credentials/formats/presentation.ts`.
 *
 * @throws {VerificationError} as `readKeyBinding` and `holderKeysOf`; `holder-binding`
 */
export async function checkKeyBinding(
  credential: SdJwtClaimsSet,
  resolve: Resolve,
): Promise<KeyBindingClaims | undefined> {
  const { sdJwt, keyBinding, isBound, payload } = credential
  if (keyBinding === undefined) return undefined
  const { jws, claims } = readKeyBinding(keyBinding)
  const keys = await holderKeysOf(credential, resolve)
  if (!keys.some((key) => isSignedBy(jws, key))) {
    const reason =
      keys.length > 0
        ? 'The key binding is not signed with the key that the credential is bound to'
        : `The credential is bound to no key${isBound ? ' that is known here (cnf)' : ''}, so its key binding proves nothing`
    throw new VerificationError('holder-binding', reason)
  }
  if (claims.sd_hash !== digestBy(payload['_sd_alg'])(sdJwt))
    throw new VerificationError('holder-binding', 'The sd_hash of the key binding is for other disclosures')
  return claims
}

/** The algorithm of a holder key. Undefined for keys of other algorithms. */
export function findBindingAlgorithm(key: PublicJwk): JoseHeader['alg'] | undefined {
  return JoseHeader.shape.alg.options.find((alg) => fitsAlgorithm({ header: { alg } }, key))
}
