/** Key proofs of the type `jwt` (VCI Appendix F.1): which key a credential is bound to, and that the wallet has it. */
import * as z from 'zod'
import type { JsonObject } from '../base/json.ts'
import { reasonOf } from '../base/reason.ts'
import { checkSignature } from '../credentials/did-signature.ts'
import { decodeHeader, decodeJws, isSignedBy } from '../credentials/jws.ts'
import { NumericDate } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { toPublic, type PublicJwk } from '../crypto/keys.ts'
import { didOf, type Resolve } from '../did/document.ts'
import { createJwkDid, resolveJwkDid } from '../did/jwk.ts'
import { OAuthError } from './oauth-error.ts'

export type ProofChecks = {
  resolve: Resolve
  /** The Credential Issuer Identifier. */
  audience: string
  /** Epoch seconds. */
  now: number
  leewaySeconds: number
  /** The longest age of a proof, the lifetime of its nonce. */
  maxAgeSeconds: number
  /** When a nonce ends, in milliseconds since 1970. Undefined for one that is not valid. */
  readNonce: (nonce: string) => number | undefined
}

/** A proof that passed all checks: the DID that the credential is bound to, and the nonce to be used up. */
export type KeyProof = { holderDid: string; key: PublicJwk; nonce: string; nonceEndsMs: number }

export const proofType = 'openid4vci-proof+jwt'

/** A public key in the header of a proof, which a private one must not be. */
export const HeaderKey = z.looseObject({
  kty: z.enum(['OKP', 'EC']),
  crv: z.enum(['Ed25519', 'secp256k1', 'P-256']),
  x: z.string().max(100),
  y: z.string().max(100).optional(),
  d: z.never('is private and must not be there').optional(),
})

const Header = z.looseObject({
  typ: z.literal(proofType, `is not ${proofType}`),
  alg: z.enum(['EdDSA', 'ES256K', 'ES256'], 'is not one of EdDSA, ES256K and ES256'),
  kid: z.string().optional(),
  jwk: HeaderKey.optional(),
  x5c: z.never('is not supported; use kid or jwk').optional(),
})

const Claims = z.looseObject({
  aud: z.string(),
  iat: NumericDate,
  exp: NumericDate.optional(),
  nonce: z.string('is missing'),
})

/**
 * Checks form, audience, age and nonce, and then the signature with the key that the header names.
 *
 * @throws {OAuthError} `invalid_proof` naming the member, `invalid_nonce`
 * @throws {Problem} `error:ServiceUnavailable` when a DID cannot be resolved for now
 */
export async function verifyKeyProof(jwt: string, checks: ProofChecks): Promise<KeyProof> {
  try {
    const header = readMembers(Header, decodeHeader(jwt), 'header member')
    const jws = decodeJws(jwt)
    const { aud, iat, exp, nonce } = readMembers(Claims, jws.payload, 'claim')
    const { now, leewaySeconds, maxAgeSeconds } = checks
    if (aud !== checks.audience) throw invalidProof(`its aud is not ${checks.audience}`)
    if (iat > now + leewaySeconds) throw invalidProof('its iat is in the future')
    if (iat < now - maxAgeSeconds - leewaySeconds) throw invalidProof('its iat is too long ago')
    if (exp !== undefined && exp <= now - leewaySeconds) throw invalidProof('it has expired')
    const nonceEndsMs = checks.readNonce(nonce)
    if (nonceEndsMs === undefined) throw invalidNonce()
    const { holderDid, key } = await checkKey(header, jws, checks.resolve)
    return { holderDid, key, nonce, nonceEndsMs }
  } catch (error) {
    if (error instanceof VerificationError) throw invalidProof(reasonOf(error), error)
    throw error
  }
}

/** VCI §8.3.1.2: the wallet should get a new nonce. */
export function invalidNonce(): OAuthError {
  return new OAuthError(
    'invalid_nonce',
    'The nonce of the proof was not made by this issuer, has expired, or was used. Get a new one from the nonce endpoint.',
  )
}

/** `reason` continues the sentence "The proof is not accepted:". */
export function invalidProof(reason: string, cause?: unknown): OAuthError {
  return new OAuthError('invalid_proof', `The proof is not accepted: ${reason}`, { cause })
}

async function checkKey(
  { kid, jwk }: z.output<typeof Header>,
  jws: ReturnType<typeof decodeJws>,
  resolve: Resolve,
): Promise<Pick<KeyProof, 'holderDid' | 'key'>> {
  if ((kid === undefined) === (jwk === undefined))
    throw invalidProof('its header must have exactly one of kid and jwk')
  if (kid !== undefined) {
    if (!kid.startsWith('did:') || !kid.includes('#')) throw invalidProof('its kid is not a DID URL of a key')
    const holderDid = didOf(kid)
    const { publicKeyJwk } = await checkSignature(jws, { did: holderDid, role: 'holder' }, resolve)
    return { holderDid, key: publicKeyJwk }
  }
  const key = toPublic(jwk as PublicJwk)
  const holderDid = createJwkDid(key)
  try {
    resolveJwkDid(holderDid)
  } catch (cause) {
    throw invalidProof('its jwk is not a public key', cause)
  }
  if (!isSignedBy(jws, key)) throw invalidProof('the key in its jwk did not make the signature')
  return { holderDid, key }
}

/** Parses the header or the claims of a proof; `part` names its members. @throws {VerificationError} `malformed`, naming the member */
export function readMembers<Type extends z.ZodType>(
  type: Type,
  value: JsonObject,
  part: 'header member' | 'claim',
): z.output<Type> {
  const parsed = type.safeParse(value)
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]!
  throw new VerificationError('malformed', `the ${part} '${path.join('.')}' ${message}`)
}
