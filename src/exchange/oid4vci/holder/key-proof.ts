/**
 * Key proofs of the wallet (VCI Appendix F): a `jwt` for each key, or an attestation of the keys, alone or in
 * the header of one `jwt`.
 */
import { signJws } from '../../../credentials/codecs/jws.ts'
import { toPublic } from '../../../foundation/crypto/keys.ts'
import type { HolderKey } from '../../../wallet/did-registrar/holder-key.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { proofType } from '../proof.ts'
import { attestKeys } from './attestation.ts'
import type { OfferRecord } from './record.ts'

type Proofs = { jwt: string[] } | { attestation: string[] }

/**
 * The proofs of keys, for a nonce of the issuer if it has an endpoint for nonces.
 *
 * @param keys at least one
 * @throws {Problem} `Conflict` if the certificate of the attestation has ended
 */
export async function createProofs(
  wallet: Wallet,
  record: OfferRecord,
  keys: readonly HolderKey[],
  nonce: string | undefined,
): Promise<Proofs> {
  const { proof = 'jwt' } = record.receivedOffer
  if (proof === 'jwt') return { jwt: keys.map((key) => createKeyProof(key, record, nonce)) }
  const privateKeys = keys.map(({ privateJwk }) => privateJwk)
  const attestation = await attestKeys(wallet, record, privateKeys, nonce)
  if (proof === 'attestation') return { attestation: [attestation] }
  return { jwt: [createKeyProof(keys[0]!, record, nonce, attestation)] }
}

function createKeyProof(
  { privateJwk, kid }: HolderKey,
  { receivedOffer }: OfferRecord,
  nonce: string | undefined,
  attestation?: string,
): string {
  const { binding, credentialIssuer, clientId, grant } = receivedOffer
  const payload = {
    // It must be absent if the token request is anonymous.
    ...(grant === 'authorization_code' && { iss: clientId }),
    aud: credentialIssuer,
    iat: Math.floor(Date.now() / 1_000),
    ...(nonce !== undefined && { nonce }),
  }
  const key = binding === 'jwk' ? { jwk: toPublic(privateJwk) } : { kid }
  const parameters = attestation === undefined ? undefined : { key_attestation: attestation }
  return signJws({ typ: proofType, ...key, parameters }, payload, privateJwk)
}
