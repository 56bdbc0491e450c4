/** Key proofs of the type `jwt` (VCI Appendix F.1): which key a credential is bound to, and that the wallet has it. */
import * as z from 'zod'
import { MediaType } from '../base/media-type.ts'
import { reasonOf } from '../base/reason.ts'
import { checkSignature } from '../credentials/did-signature.ts'
import { decodeHeader, decodeJws, isSignedBy, type Jws } from '../credentials/jws.ts'
import { NumericDate } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { isSameKey, toPublic, type PublicJwk } from '../crypto/keys.ts'
import { didOf, type Resolve } from '../did/document.ts'
import { createJwkDid } from '../did/jwk.ts'
import { faultOfTimes, HeaderKey, isKey, readMembers } from './jwt.ts'
import { type AttestationPolicy, type KeyAttestation, verifyKeyAttestation } from './key-attestation.ts'
import { invalidNonce } from './nonce.ts'
import { OAuthError } from '../oauth/oauth-error.ts'

export type ProofChecks = {
  resolve: Resolve
  /** For key attestations in the header. */
  policy: AttestationPolicy
  /** The Credential Issuer Identifier. */
  audience: string
  /** The client that the authorization code was issued to. Undefined for other grants, whose clients are not known. */
  clientId: string | undefined
  /** Epoch seconds. */
  now: number
  leewaySeconds: number
  /** The longest age of a proof, the lifetime of its nonce. */
  maxAgeSeconds: number
  /** When a nonce ends, in milliseconds since 1970. Undefined for one that is not valid. */
  readNonce: (nonce: string) => number | undefined
}

/** A proof that passed all checks: the DID that the credential is bound to, the nonce to be used up, and the attestation of the key. */
export type KeyProof = {
  holderDid: string
  key: PublicJwk
  nonce: string
  nonceEndsMs: number
  attestation: KeyAttestation | undefined
}

export const proofType = 'openid4vci-proof+jwt'

const Header = z.looseObject({
  typ: MediaType(proofType),
  alg: z.enum(['EdDSA', 'ES256K', 'ES256'], 'is not one of EdDSA, ES256K and ES256'),
  kid: z.string().optional(),
  jwk: HeaderKey.optional(),
  x5c: z.never('is not supported; use kid or jwk').optional(),
  key_attestation: z.string().optional(),
})

const Claims = z.looseObject({
  iss: z.unknown().optional(),
  aud: z.string(),
  iat: NumericDate,
  exp: NumericDate.optional(),
  nonce: z.string('is missing'),
})

/**
 * Checks form, client, audience, age and nonce, and then the signature with the key that the header names.
 *
 * @throws {OAuthError} `invalid_proof` naming the member, `invalid_nonce`
 * @throws {Problem} `error:ServiceUnavailable` when a DID cannot be resolved for now
 */
export async function verifyKeyProof(jwt: string, checks: ProofChecks): Promise<KeyProof> {
  try {
    const header = readMembers(Header, decodeHeader(jwt), 'header member')
    const jws = decodeJws(jwt)
    const { iss, aud, iat, exp, nonce } = readMembers(Claims, jws.payload, 'claim')
    const { now, leewaySeconds, maxAgeSeconds } = checks
    // Without a known client, it proves nothing, and wallets send it nevertheless.
    if (checks.clientId !== undefined && typeof iss === 'string' && iss !== checks.clientId)
      throw invalidProof('its iss is not the client_id of the authorization request')
    if (aud !== checks.audience) throw invalidProof(`its aud is not ${checks.audience}`)
    const fault = faultOfTimes({ iat, exp }, checks)
    if (fault !== undefined) throw invalidProof(fault)
    if (iat < now - maxAgeSeconds - leewaySeconds) throw invalidProof('its iat is too long ago')
    const nonceEndsMs = checks.readNonce(nonce)
    if (nonceEndsMs === undefined) throw invalidNonce()
    const attestation = await attestationIn(header, checks)
    const { holderDid, key } = await checkKey(header, jws, { ...checks, attestation })
    if (attestation && !attestation.keys.some((each) => isSameKey(each, key)))
      throw invalidProof('its key is not in the attested_keys of its key_attestation')
    return { holderDid, key, nonce, nonceEndsMs, attestation }
  } catch (error) {
    if (error instanceof VerificationError) throw invalidProof(reasonOf(error), error)
    throw error
  }
}

/** `reason` continues the sentence "The proof is not accepted:". */
export function invalidProof(reason: string, cause?: unknown): OAuthError {
  return new OAuthError('invalid_proof', `The proof is not accepted: ${reason}`, { cause })
}

async function attestationIn(
  { key_attestation: text }: z.output<typeof Header>,
  checks: ProofChecks,
): Promise<KeyAttestation | undefined> {
  const { providers, requirement } = checks.policy
  if (text !== undefined && (providers || requirement)) return verifyKeyAttestation(text, 'header', checks)
  if (requirement) throw invalidProof('its header has no key_attestation, which this credential requires')
  return undefined
}

async function checkKey(
  { kid, jwk }: z.output<typeof Header>,
  jws: Jws,
  { resolve, attestation }: { resolve: Resolve; attestation: KeyAttestation | undefined },
): Promise<Pick<KeyProof, 'holderDid' | 'key'>> {
  if ((kid === undefined) === (jwk === undefined))
    throw invalidProof('its header must have exactly one of kid and jwk')
  if (kid !== undefined && attestation && !kid.startsWith('did:')) {
    // The kid is a name for one of the attested keys.
    const key = attestation.keys.find((each) => isSignedBy(jws, each))
    if (!key) throw invalidProof('none of the attested_keys of its key_attestation made the signature')
    return { holderDid: createJwkDid(key), key }
  }
  if (kid !== undefined) {
    if (!kid.startsWith('did:')) throw invalidProof('its kid is not a DID URL')
    const holderDid = didOf(kid)
    const { publicKeyJwk } = await checkSignature(jws, { did: holderDid, role: 'holder' }, resolve)
    return { holderDid, key: publicKeyJwk }
  }
  const key = toPublic(jwk as PublicJwk)
  if (!isKey(key)) throw invalidProof('its jwk is not a public key')
  if (!isSignedBy(jws, key)) throw invalidProof('the key in its jwk did not make the signature')
  return { holderDid: createJwkDid(key), key }
}
