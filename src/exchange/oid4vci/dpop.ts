/**
 * DPoP (RFC 9449): a wallet proves with each request that it has the key to which its access token is bound,
 * so that a stolen token is useless.
 *
 * The nonce of a proof is required. It is a sealed time, as that of key proofs, so that it needs no row and a
 * proof cannot be made in advance.
 */
import { calculateJwkThumbprint } from 'jose'
import * as z from 'zod'
import { PublicKey, requireSignature, verifyProofJwt } from '../../credentials/codecs/proof-jwt.ts'
import { NumericDate } from '../../credentials/codecs/validity.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { proofAlgorithms } from './metadata.ts'
import { createNonce, nonceLifetimeSeconds, readNonce, useNonce } from './nonce.ts'
import { OAuthError, type OAuthErrorCode } from '../../foundation/oauth/oauth-error.ts'
import { digestOf } from '../../foundation/oauth/secrets.ts'

/**
 * A proof that passed all checks. `jkt` is the thumbprint of its key (RFC 7638), `id` identifies the proof
 * until `endsMs`.
 */
export type DpopProof = { jkt: string; id: string; endsMs: number }

const Header = z.looseObject({
  alg: z.enum(proofAlgorithms, `is not one of ${proofAlgorithms.join(', ')}`),
  jwk: PublicKey,
})

const Claims = z.looseObject({
  jti: z.string().min(1).max(500),
  htm: z.literal('POST', 'is not the method of the request'),
  htu: z.string(),
  iat: NumericDate,
  ath: z.string().optional(),
  nonce: z.string().optional(),
})

/** The endpoints that take access tokens. */
export type Protected = 'credentials' | 'deferred-credentials' | 'notifications'

type Use = {
  endpoint: 'par' | 'token' | 'revoke' | Protected
  /** At an endpoint that takes one. */
  accessToken?: string
}

/**
 * Checks the proof in the header `DPoP` of a request (RFC 9449 §4.3). Undefined without one. `useProof` then
 * excludes its repetition.
 *
 * @throws {OAuthError} `invalid_dpop_proof`; `use_dpop_nonce` with a nonce
 */
export async function readProof(
  wallet: Wallet,
  issuer: IssuerRow,
  header: string | undefined,
  { endpoint, accessToken }: Use,
): Promise<DpopProof | undefined> {
  if (header === undefined) return undefined
  const { env } = wallet
  const url = `${identifierOf(env.urls.rest, issuer.id)}/${endpoint}`
  const refuse = (reason: string, cause?: unknown) =>
    refusal('invalid_dpop_proof', `The DPoP proof is not accepted: ${reason}.`, endpoint, { cause })
  const { claims, signer: key } = await verifyProofJwt(header, {
    typ: 'dpop+jwt',
    header: Header,
    claims: Claims,
    clock: { now: Date.now() / 1_000, leewaySeconds: env.config.PRESENTATION_LEEWAY },
    maxAgeSeconds: nonceLifetimeSeconds,
    signer: ({ header: { jwk }, jws }) =>
      requireSignature(jws, jwk, 'the key in its jwk did not make the signature'),
    refuse,
  })
  const { jti, htu, ath, nonce } = claims
  if (targetOf(htu) !== targetOf(url)) throw refuse(`its htu is not ${url}`)
  if (accessToken !== undefined && ath !== digestOf(accessToken))
    throw refuse('its ath is not the digest of the access token')
  const endsMs = nonce === undefined ? undefined : readNonce(wallet, issuer.id, nonce, 'dpop')
  if (endsMs === undefined)
    throw refusal('use_dpop_nonce', 'The DPoP proof needs the nonce of this response.', endpoint, {
      dpopNonce: createNonce(wallet, issuer.id, 'dpop'),
    })
  const jkt = await calculateJwkThumbprint(key)
  return { jkt, id: `dpop:${jkt}:${jti}`, endsMs }
}

/** Stores that a proof was used. @throws {OAuthError} if it was used before */
export async function useProof(tx: Tx, { id, endsMs }: DpopProof, endpoint: Use['endpoint']): Promise<void> {
  if (await useNonce(tx, id, endsMs)) return
  throw refusal('invalid_dpop_proof', 'The DPoP proof was used before: its jti is known.', endpoint)
}

/**
 * RFC 9449 §5 and §7.1: the authorization server refuses with 400, endpoints that take access tokens with
 * 401.
 */
export function refusal(
  code: OAuthErrorCode,
  description: string,
  endpoint: Use['endpoint'],
  options: { cause?: unknown; dpopNonce?: string } = {},
): OAuthError {
  return new OAuthError(code, description, {
    ...options,
    ...(!['par', 'token', 'revoke'].includes(endpoint) && { status: 401 }),
  })
}

/** RFC 9449 §4.3: a URL without query and fragment, normalized. Undefined for a text that is none. */
function targetOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  return origin + pathname
}
