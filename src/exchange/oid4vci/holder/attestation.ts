/**
 * Attestations of this wallet, which is its own wallet provider: the key of one of its issuer certificates
 * signs wallet attestations (VCI Appendix E) and key attestations (VCI Appendix D). An issuer trusts them by
 * the root of the certificate.
 */
import * as z from 'zod'
import { signJws } from '../../../credentials/codecs/jws.ts'
import { generateKey, toPublic, type PrivateJwk } from '../../../foundation/crypto/keys.ts'
import { getCertificateSigner } from '../../../wallet/issuer-certificates/signatures.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { clientAttestationType } from '../client-attestation.ts'
import { keyAttestationType } from '../key-attestation.ts'
import { type Caller, post, readAnswer } from './caller.ts'
import type { AttestedClient } from './client-proof.ts'
import type { OfferRecord } from './record.ts'
import type { Secrets } from './secrets.ts'

/** Attestations are made for one request, and are used at once. */
const lifetimeSeconds = 300

/** A key for the wallet attestation of a flow. Undefined if the server requires none. */
export function newClientKey({ receivedOffer }: OfferRecord): Secrets['clientKey'] {
  return receivedOffer.attestsClient ? (generateKey('P-256') as Secrets['clientKey']) : undefined
}

/**
 * Attests the key of a flow, with a challenge of the server if it has an endpoint for them.
 *
 * @param key undefined if the server requires no attestation
 * @throws {Problem} `Conflict` if the certificate has ended; `IssuerRefused`; 503
 */
export async function attestClient(
  caller: Caller,
  { receivedOffer }: OfferRecord,
  key: PrivateJwk | undefined,
): Promise<AttestedClient | undefined> {
  if (!key) return undefined
  const { clientId, authorizationServer: audience, endpoints } = receivedOffer
  const claims = { sub: clientId, cnf: { jwk: toPublic(key) } }
  const attestation = await attest(caller.wallet, receivedOffer, clientAttestationType, claims)
  const challenge =
    endpoints.challenge === undefined ? undefined : await newChallenge(caller, endpoints.challenge)
  return { attestation, key, clientId, audience, challenge }
}

async function newChallenge(caller: Caller, url: string): Promise<string> {
  const answer = await post(caller, url, {})
  const response = z.looseObject({ attestation_challenge: z.string().min(1).max(10_000) })
  return readAnswer(response, answer, url).attestation_challenge
}

/**
 * Attests keys of credentials. Nothing is said of how they are stored.
 *
 * @throws {Problem} as `attestClient`
 */
export function attestKeys(
  wallet: Wallet,
  { receivedOffer }: OfferRecord,
  keys: readonly PrivateJwk[],
  nonce: string | undefined,
): Promise<string> {
  const claims = { attested_keys: keys.map(toPublic), ...(nonce !== undefined && { nonce }) }
  return attest(wallet, receivedOffer, keyAttestationType, claims)
}

async function attest(
  wallet: Wallet,
  { attestationCertificateId: id }: OfferRecord['receivedOffer'],
  typ: string,
  claims: object,
): Promise<string> {
  const { issuer, key, x5c } = await getCertificateSigner(wallet, id!)
  const iat = Math.floor(Date.now() / 1_000)
  return signJws({ typ, x5c }, { iss: issuer, iat, exp: iat + lifetimeSeconds, ...claims }, key)
}
