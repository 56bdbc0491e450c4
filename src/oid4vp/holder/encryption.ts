/** Chooses the key and the algorithm that a response is encrypted with (OpenID4VP 1.0 §8.3). */
import { createPublicKey, type JsonWebKeyInput } from 'node:crypto'
import * as z from 'zod'
import type { JsonObject } from '../../base/json.ts'
import type { StoredRequest } from '../../protocols/present-proof/openid4vp-request.ts'
import { invalid } from './request-object.ts'

/** Keys of other types and for other purposes are ignored (RFC 7517 §5). A private key is none that a verifier may send. */
const EncryptionJwk = z.looseObject({
  kty: z.enum(['EC', 'OKP']),
  crv: z.enum(['P-256', 'P-384', 'P-521', 'X25519']),
  x: z.string(),
  y: z.string().optional(),
  d: z.never().optional(),
  use: z.literal('enc').optional(),
  alg: z.literal('ECDH-ES'),
  kid: z.string().optional(),
})

const Metadata = z.looseObject({
  jwks: z.looseObject({ keys: z.array(z.unknown()).max(100) }),
  encrypted_response_enc_values_supported: z.array(z.string()).default(['A128GCM']),
})

/** In the order of preference. */
const encodings = ['A256GCM', 'A128GCM', 'A256CBC-HS512', 'A128CBC-HS256']

/** @throws {OAuthError} `invalid_request` if the verifier names no usable key or algorithm */
export function chooseEncryption(metadata: JsonObject): NonNullable<StoredRequest['encryption']> {
  const { success, data } = Metadata.safeParse(metadata)
  if (!success) throw invalid('client_metadata has no jwks with the key to encrypt the response to.')
  const jwk = data.jwks.keys.map((key) => EncryptionJwk.safeParse(key).data).find((key) => key && isKey(key))
  if (!jwk) throw invalid('client_metadata.jwks has no key for ECDH-ES on P-256, P-384, P-521 or X25519.')
  const enc = encodings.find((each) => data.encrypted_response_enc_values_supported.includes(each))
  if (enc === undefined)
    throw invalid(
      `client_metadata.encrypted_response_enc_values_supported has none of ${encodings.join(', ')}.`,
    )
  return { jwk, enc }
}

/** Whether it is a point on its curve. */
function isKey(jwk: z.infer<typeof EncryptionJwk>): boolean {
  try {
    createPublicKey({ key: { ...jwk } as object, format: 'jwk' } as JsonWebKeyInput)
    return true
  } catch {
    return false
  }
}
