/**
 * Key proofs of the type `jwt` (VCI Appendix F.1): which key a credential is bound to, and that the wallet
 * has it.
 */
import * as z from 'zod'
import { checkSignature } from '../../credentials/codecs/did-signature.ts'
import { isSignedBy } from '../../credentials/codecs/jws.ts'
import {
  type ProofJwt,
  PublicKey,
  requireSignature,
  verifyProofJwt,
} from '../../credentials/codecs/proof-jwt.ts'
import { NumericDate } from '../../credentials/codecs/validity.ts'
import { isSameKey, type PublicJwk } from '../../foundation/crypto/keys.ts'
import { didOf, type Resolve } from '../../did/document.ts'
import { createJwkDid } from '../../did/jwk.ts'
import { type AttestationChecks, type KeyAttestation, verifyKeyAttestation } from './key-attestation.ts'
import { invalidNonce, nonceLifetimeSeconds } from './nonce.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'

export type ProofChecks = AttestationChecks & {
  resolve: Resolve
  /** The Credential Issuer Identifier. */
  audience: string
  /**
   * The client that the authorization code was issued to. Undefined for other grants, whose clients are not
   * known.
   */
  clientId: string | undefined
}

/**
 * A proof that passed all checks: the DID that the credential is bound to, the nonce to be used up, and the
 * attestation of the key.
 */
export type KeyProof = {
  holderDid: string
  key: PublicJwk
  nonce: string
  nonceEndsMs: number
  attestation: KeyAttestation | undefined
}

export const proofType = 'openid4vci-proof+jwt'

const Header = z.looseObject({
  alg: z.enum(['EdDSA', 'ES256K', 'ES256'], 'is not one of EdDSA, ES256K and ES256'),
  kid: z.string().optional(),
  jwk: PublicKey.optional(),
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

type Token = ProofJwt<z.output<typeof Header>, z.output<typeof Claims>>

/**
 * Verifies a proof: last the signature, with the key that the header names.
 *
 * @throws {OAuthError} `invalid_proof` naming the member, `invalid_nonce`
 * @throws {Problem} `error:ServiceUnavailable` when a DID cannot be resolved for now
 */
export async function verifyKeyProof(jwt: string, checks: ProofChecks): Promise<KeyProof> {
  const { signer } = await verifyProofJwt(jwt, {
    typ: proofType,
    header: Header,
    claims: Claims,
    audience: checks.audience,
    clock: checks.clock,
    maxAgeSeconds: nonceLifetimeSeconds,
    signer: (token) => findSigner(token, checks),
    refuse: invalidProof,
  })
  return signer
}

async function findSigner(token: Token, checks: ProofChecks): Promise<KeyProof> {
  const { iss, nonce } = token.claims
  // Without a known client, it proves nothing, and wallets send it nevertheless.
  if (checks.clientId !== undefined && typeof iss === 'string' && iss !== checks.clientId)
    throw invalidProof('its iss is not the client_id of the authorization request')
  const nonceEndsMs = checks.readNonce(nonce)
  if (nonceEndsMs === undefined) throw invalidNonce()
  const attestation = await attestationIn(token.header, checks)
  const { holderDid, key } = await checkKey(token, attestation, checks.resolve)
  if (attestation && !attestation.keys.some((each) => isSameKey(each, key)))
    throw invalidProof('its key is not in the attested_keys of its key_attestation')
  return { holderDid, key, nonce, nonceEndsMs, attestation }
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
  { header: { kid, jwk }, jws }: Token,
  attestation: KeyAttestation | undefined,
  resolve: Resolve,
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
  const key = requireSignature(jws, jwk!, 'the key in its jwk did not make the signature')
  return { holderDid: createJwkDid(key), key }
}
