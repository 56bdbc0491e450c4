/**
 * Client authentication by wallet attestation (VCI Appendix E, HAIP §4.4.1,
 * draft-ietf-oauth-attestation-based-client-auth): a wallet provider that the issuer trusts attests a key of
 * the wallet, and the wallet proves to have it. The server gives no challenges. Each proof is used once.
 */
import { calculateJwkThumbprint } from 'jose'
import * as z from 'zod'
import { PublicKey, requireSignature, verifyProofJwt } from '../../credentials/codecs/proof-jwt.ts'
import { NumericDate } from '../../credentials/codecs/validity.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { nonceLifetimeSeconds, useNonce } from './nonce.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { providersOf, requireProvider } from './wallet-providers.ts'

/** The headers by which a client identifies itself. */
export type ClientHeaders = {
  dpop?: string | undefined
  'oauth-client-attestation'?: string | undefined
  'oauth-client-attestation-pop'?: string | undefined
}

/**
 * An authenticated client: its id, the thumbprint of its attested key (RFC 7638), and the id of its proof
 * until `endsMs`.
 */
export type AttestedClient = { clientId: string; keyThumbprint: string; proofId: string; endsMs: number }

export const clientAttestationType = 'oauth-client-attestation+jwt'

const AttestationClaims = z.looseObject({
  iss: z.string().optional(),
  sub: z.string('is missing').min(1).max(500),
  exp: NumericDate,
  cnf: z.looseObject({ jwk: PublicKey }),
})

export const clientProofType = 'oauth-client-attestation-pop+jwt'
const ProofClaims = z.looseObject({
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string()).length(1)]),
  jti: z.string().min(1).max(500),
  iat: NumericDate,
})

/**
 * Authenticates the client of a request. `useClientProof` then excludes a repetition.
 *
 * @param clientId the parameter `client_id` of the request, if it has one
 * @returns undefined if the issuer trusts no wallet provider, or the client has no attestation and needs none
 * @throws {OAuthError} `invalid_client`
 */
export async function authenticateClient(
  wallet: Wallet,
  issuer: IssuerRow,
  headers: ClientHeaders,
  clientId: string | undefined,
): Promise<AttestedClient | undefined> {
  const { 'oauth-client-attestation': text, 'oauth-client-attestation-pop': proof } = headers
  const providers = providersOf(issuer)
  if (!providers) return undefined
  if (text === undefined && proof === undefined && providers.attestation === 'optional') return undefined
  if (text === undefined) throw invalidClient('the header OAuth-Client-Attestation is missing')
  if (proof === undefined) throw invalidClient('the header OAuth-Client-Attestation-PoP is missing')
  const { env } = wallet
  const clock = { now: Date.now() / 1_000, leewaySeconds: env.config.PRESENTATION_LEEWAY }
  const { claims: attested } = await verifyProofJwt(text, {
    typ: clientAttestationType,
    claims: AttestationClaims,
    clock,
    signer: requireProvider(providers, clock),
    refuse: invalidClient,
  })
  const { sub } = attested
  if (clientId !== undefined && clientId !== sub) throw invalidClient('its sub is not the client_id')
  const { claims, signer: key } = await verifyProofJwt(proof, {
    typ: clientProofType,
    claims: ProofClaims,
    audience: identifierOf(env.urls.rest, issuer.id),
    clock,
    maxAgeSeconds: nonceLifetimeSeconds,
    signer: ({ jws }) =>
      requireSignature(jws, attested.cnf.jwk, 'the attested key did not make its signature'),
    refuse: invalidProof,
  })
  const { jti, iat, iss = sub } = claims
  if (iss !== sub) throw invalidProof('its iss is not the client_id')
  const keyThumbprint = await calculateJwkThumbprint(key)
  const endsMs = (iat + nonceLifetimeSeconds + clock.leewaySeconds) * 1_000
  return { clientId: sub, keyThumbprint, proofId: `client-attestation:${keyThumbprint}:${jti}`, endsMs }
}

/** Stores that a proof was used. @throws {OAuthError} if it was used before */
export async function useClientProof(tx: Tx, { proofId, endsMs }: AttestedClient): Promise<void> {
  if (!(await useNonce(tx, proofId, endsMs))) throw invalidProof('it was used before: its jti is known')
}

/** `reason` continues the sentence "The wallet attestation is not accepted:". */
function invalidClient(reason: string, cause?: unknown): OAuthError {
  return new OAuthError('invalid_client', `The wallet attestation is not accepted: ${reason}.`, { cause })
}

/** `reason` continues the sentence "The proof of the wallet attestation is not accepted:". */
function invalidProof(reason: string, cause?: unknown): OAuthError {
  const description = `The proof of the wallet attestation is not accepted: ${reason}.`
  return new OAuthError('invalid_client', description, { cause })
}
