/** DPoP proofs of the wallet (RFC 9449 §4.2): an access token is bound to a key that only this flow uses. */
import { randomId } from '../../../foundation/id.ts'
import { signJws } from '../../../credentials/codecs/jws.ts'
import { toPublic, type PrivateJwk } from '../../../foundation/crypto/keys.ts'
import { digestOf } from '../../../foundation/oauth/secrets.ts'

/** A key on P-256. */
export type DpopKey = PrivateJwk

/** The algorithm of the keys. */
export const dpopAlgorithm = 'ES256'

/** The proof for a POST request. */
export function createDpopProof(
  key: DpopKey,
  { url, accessToken, nonce }: { url: string; accessToken?: string | undefined; nonce?: string | undefined },
): string {
  const { origin, pathname } = new URL(url)
  const payload = {
    jti: randomId(),
    htm: 'POST',
    htu: origin + pathname,
    iat: Math.floor(Date.now() / 1_000),
    ...(accessToken !== undefined && { ath: digestOf(accessToken) }),
    ...(nonce !== undefined && { nonce }),
  }
  return signJws({ typ: 'dpop+jwt', jwk: toPublic(key) }, payload, key)
}
