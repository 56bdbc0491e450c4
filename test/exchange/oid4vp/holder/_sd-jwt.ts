/** Presentations of SD-JWT VCs, verified by the library of others. */
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { decodeSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'

/**
 * Verifies the digests, and the key binding by the key in `cnf`. The signature of the issuer is not verified.
 * Returns the key binding.
 */
export async function verifyKeyBinding(text: string, nonce: string) {
  const { holderKey } = decodeSdJwt(text)
  const library = new SDJwtVcInstance({
    hasher: (data, algorithm) =>
      createHash(algorithm.replace('-', ''))
        .update(typeof data === 'string' ? data : Buffer.from(data))
        .digest(),
    verifier: () => Promise.resolve(true),
    kbVerifier: (data, signature) =>
      Promise.resolve(
        verify(
          null,
          Buffer.from(data),
          createPublicKey({ key: { ...holderKey }, format: 'jwk' } as never),
          Buffer.from(signature, 'base64url'),
        ),
      ),
  })
  const { kb } = await library.verify(text, { keyBindingNonce: nonce })
  return kb!.payload
}
