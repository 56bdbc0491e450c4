/** DPoP proofs (RFC 9449) as tests need them: each part can be changed. */
import { createHash, randomUUID } from 'node:crypto'
import { toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import {
  algorithmOf,
  generateKey,
  sign,
  toPublic,
  type PrivateJwk,
} from '../../../src/foundation/crypto/keys.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { preAuthorizedGrant, type Issuer } from './_wallet.ts'

export type ProofParts = {
  key?: PrivateJwk
  /** Makes the signature instead of `key`. */
  signer?: PrivateJwk
  nonce?: string | undefined
  accessToken?: string
  header?: object
  claims?: object
}

/**
 * A proof for an endpoint of an issuer. Members of `header` and `claims` replace those of a valid one;
 * undefined removes them.
 */
export function proofFor(
  { identifier }: Issuer,
  endpoint: string,
  { key = generateKey('Ed25519'), signer = key, nonce, accessToken, header, claims }: ProofParts = {},
): string {
  const all = { typ: 'dpop+jwt', alg: algorithmOf(key), jwk: toPublic(key), ...header }
  const payload = {
    jti: randomUUID(),
    htm: 'POST',
    htu: `${identifier}/${endpoint}`,
    iat: Math.floor(Date.now() / 1_000),
    nonce,
    ...(accessToken !== undefined && { ath: createHash('sha256').update(accessToken).digest('base64url') }),
    ...claims,
  }
  const input = `${toBase64url(JSON.stringify(all))}.${toBase64url(JSON.stringify(payload))}`
  return `${input}.${toBase64url(sign(signer, utf8(input)))}`
}

/** The thumbprint of a key (RFC 7638). */
export function thumbprintOf({ crv, kty, x }: PrivateJwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
}

/** Sends a form with a DPoP proof to an endpoint, and with further headers. */
export function post(
  { agent, issuerId }: Issuer,
  endpoint: 'par' | 'token',
  form: Record<string, string | undefined>,
  dpop?: string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const given = Object.entries(form).filter((each): each is [string, string] => each[1] !== undefined)
  return ask(agent, `POST /oid4vci/issuers/${issuerId}/${endpoint}`, {
    body: new URLSearchParams(given).toString(),
    type: 'application/x-www-form-urlencoded',
    headers: { ...(dpop !== undefined && { dpop }), ...headers },
  })
}

/**
 * A nonce for DPoP proofs, for a client with these headers, which the issuer gives with its refusal of a
 * proof without one.
 */
export async function newDpopNonce(setup: Issuer, client: Record<string, string> = {}): Promise<string> {
  const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': 'unknown' }
  const { headers, body, status } = await post(setup, 'token', form, proofFor(setup, 'token'), client)
  const nonce = headers.get('dpop-nonce')
  if (status !== 400 || body.error !== 'use_dpop_nonce' || nonce === null)
    throw new Error(JSON.stringify(body))
  return nonce
}
