/**
 * Proofs that this wallet has the key of its wallet attestation
 * (draft-ietf-oauth-attestation-based-client-auth, Client Attestation PoP JWT).
 */
import { randomId } from '../../../foundation/id.ts'
import { signJws } from '../../../credentials/codecs/jws.ts'
import type { PrivateJwk } from '../../../foundation/crypto/keys.ts'
import { clientProofType } from '../client-attestation.ts'

/**
 * A wallet attestation with its key. `audience` is the authorization server, and `challenge` is of its
 * challenge endpoint.
 */
export type AttestedClient = {
  attestation: string
  key: PrivateJwk
  clientId: string
  audience: string
  challenge?: string | undefined
}

/** The headers that authenticate a request. Each proof is used once. */
export function toClientHeaders(
  { attestation, key, clientId, audience, challenge }: AttestedClient,
  demanded = challenge,
): Record<string, string> {
  const payload = {
    iss: clientId,
    aud: audience,
    jti: randomId(),
    iat: Math.floor(Date.now() / 1_000),
    ...(demanded !== undefined && { challenge: demanded }),
  }
  return {
    'oauth-client-attestation': attestation,
    'oauth-client-attestation-pop': signJws({ typ: clientProofType }, payload, key),
  }
}
