/**
 * Presentations as JWT (W3C VC Data Model 1.1 §6.3.1). `src/credentials/formats/jwt/presentation.ts` verifies
 * them.
 */
import * as z from 'zod'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import { Did } from '../../did/document.ts'
import { signJws } from './jws.ts'
import { oneOrMore } from './jwt-vc.ts'
import { NumericDate } from './validity.ts'

export const VerifiablePresentationClaims = z.looseObject({
  iss: Did,
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  nonce: z.string().optional(),
  iat: NumericDate.optional(),
  nbf: NumericDate.optional(),
  exp: NumericDate.optional(),
  vp: z.looseObject({
    type: oneOrMore(z.string(), ['VerifiablePresentation']),
    holder: z.union([z.string(), z.looseObject({ id: z.string() })]).optional(),
    verifiableCredential: z.union([z.string().transform((one) => [one]), z.array(z.string())]).optional(),
  }),
})
export type VerifiablePresentationClaims = z.infer<typeof VerifiablePresentationClaims>

/**
 * VC Data Model 1.1 §4.1 requires the first context, and verifiers such as did-jwt-vc check it. The Cloud
 * Agent and its SDKs write the second. This agent requires neither in presentations of others.
 */
const contexts = ['https://www.w3.org/2018/credentials/v1', 'https://www.w3.org/2018/presentations/v1']

/** The input of `createJwtVp`. */
export type PresentationContent = {
  /** For `iss`. The long form unless the DID is published, because others resolve it. */
  holderDid: string
  /** An `authentication` key of the holder. */
  holderKey: PrivateJwk
  /** The bare id of that key. */
  kid?: string | undefined
  /** The domain of the request, if it has one. */
  audience?: string | undefined
  /** The challenge of the request. */
  nonce: string
  /** Compact JWTs. */
  credentials: string[]
  /** Epoch seconds for `iat`, which the Cloud Agent does not write. */
  now?: number | undefined
}

/** Signs a presentation; without credentials, the proof in a credential request. Returns the compact JWT. */
export function createJwtVp(content: PresentationContent): string {
  const { holderDid, holderKey, kid, audience, nonce, credentials, now } = content
  const payload = {
    iss: holderDid,
    aud: audience,
    nonce,
    ...(now !== undefined && { iat: Math.floor(now) }),
    vp: { '@context': contexts, type: ['VerifiablePresentation'], verifiableCredential: credentials },
  }
  return signJws({ typ: 'JWT', kid }, payload, holderKey)
}
