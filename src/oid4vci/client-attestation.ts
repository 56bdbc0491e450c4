/**
 * Client authentication by wallet attestation (VCI Appendix E, HAIP §4.4.1, draft-ietf-oauth-attestation-based-client-auth): a wallet provider that
 * the issuer trusts attests a key of the wallet, and the wallet proves to have it. The server gives no challenges. Each proof is used once.
 */
import { calculateJwkThumbprint } from 'jose'
import * as z from 'zod'
import { MediaType } from '../base/media-type.ts'
import { reasonOf } from '../base/reason.ts'
import { decodeHeader, decodeJws, isSignedBy } from '../credentials/jws.ts'
import { NumericDate } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { type PublicJwk, toPublic } from '../crypto/keys.ts'
import type { Tx } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { type Clock, faultOfTimes, HeaderKey, readMembers, Times } from './jwt.ts'
import { nonceLifetimeSeconds, useNonce } from './nonce.ts'
import { OAuthError } from '../oauth/oauth-error.ts'
import { providersOf, verifyAttestation } from './wallet-providers.ts'

/** The headers by which a client identifies itself. */
export type ClientHeaders = {
  dpop?: string | undefined
  'oauth-client-attestation'?: string | undefined
  'oauth-client-attestation-pop'?: string | undefined
}

/** An authenticated client: its id, the thumbprint of its attested key (RFC 7638), and the id of its proof until `endsMs`. */
export type AttestedClient = { clientId: string; keyThumbprint: string; proofId: string; endsMs: number }

export const clientAttestationType = 'oauth-client-attestation+jwt'

const attestation = {
  type: clientAttestationType,
  claims: z.looseObject({
    iss: z.string().optional(),
    sub: z.string('is missing').min(1).max(500),
    exp: NumericDate,
    cnf: z.looseObject({ jwk: HeaderKey }),
  }),
}

export const clientProofType = 'oauth-client-attestation-pop+jwt'
const ProofHeader = z.looseObject({ typ: MediaType(clientProofType) })
const ProofClaims = Times.extend({
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
  const { sub, cnf } = await check(invalidClient, () =>
    verifyAttestation(text, attestation, providers, clock),
  )
  if (clientId !== undefined && clientId !== sub) throw invalidClient('its sub is not the client_id')
  const key = toPublic(cnf.jwk as PublicJwk)
  const audience = identifierOf(env.urls.rest, issuer.id)
  const { jti, iat } = await check(invalidProof, () =>
    verifyProof(proof, { key, audience, clientId: sub }, clock),
  )
  const keyThumbprint = await calculateJwkThumbprint(key)
  const endsMs = (iat + nonceLifetimeSeconds + clock.leewaySeconds) * 1_000
  return { clientId: sub, keyThumbprint, proofId: `client-attestation:${keyThumbprint}:${jti}`, endsMs }
}

/** Stores that a proof was used. @throws {OAuthError} if it was used before */
export async function useClientProof(tx: Tx, { proofId, endsMs }: AttestedClient): Promise<void> {
  if (!(await useNonce(tx, proofId, endsMs))) throw invalidProof('it was used before: its jti is known')
}

type Expected = { key: PublicJwk; audience: string; clientId: string }

/** Checks the proof that the client has the attested key. */
function verifyProof(
  text: string,
  { key, audience, clientId }: Expected,
  clock: Clock,
): z.infer<typeof ProofClaims> {
  readMembers(ProofHeader, decodeHeader(text), 'header member')
  const jws = decodeJws(text)
  const claims = readMembers(ProofClaims, jws.payload, 'claim')
  const { aud, iss = clientId, iat } = claims
  if (!isSignedBy(jws, key)) throw invalidProof('the attested key did not make its signature')
  if ([aud].flat()[0] !== audience) throw invalidProof(`its aud is not ${audience}`)
  if (iss !== clientId) throw invalidProof('its iss is not the client_id')
  const fault = faultOfTimes(claims, clock)
  if (fault !== undefined) throw invalidProof(fault)
  if (iat < clock.now - nonceLifetimeSeconds - clock.leewaySeconds)
    throw invalidProof('its iat is too long ago')
  return claims
}

/** Runs a check. `refuse` makes the error of a malformed or invalid token. */
async function check<T>(refuse: typeof invalidClient, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof VerificationError) throw refuse(reasonOf(error), error)
    throw error
  }
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
