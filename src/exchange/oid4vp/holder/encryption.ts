/** Chooses the key and the algorithm that a response is encrypted with (OpenID4VP 1.0 §8.3). */
import * as z from 'zod'
import { ifValid, validOnes } from '../../../foundation/foreign.ts'
import type { JsonObject } from '../../../foundation/json.ts'
import { KeySet } from '../../../foundation/crypto/key-set.ts'
import { chooseEncoding, chooseKey, encodings } from '../../../foundation/oauth/encryption-choice.ts'
import type { StoredRequest } from '../../presentation/openid4vp-request.ts'
import { invalid } from './request-object.ts'

/** §8.3. */
const defaultEncoding = 'A128GCM'

const Metadata = z.looseObject({
  jwks: KeySet,
  encrypted_response_enc_values_supported: ifValid(validOnes(z.string())),
})

/** @throws {OAuthError} `invalid_request` if the verifier names no usable key or algorithm */
export function chooseEncryption(metadata: JsonObject): NonNullable<StoredRequest['encryption']> {
  const { success, data } = Metadata.safeParse(metadata)
  if (!success) throw invalid('client_metadata has no jwks with the key to encrypt the response to.')
  const jwk = chooseKey(data.jwks.keys)
  if (!jwk) throw invalid('client_metadata.jwks has no key for ECDH-ES on P-256, P-384, P-521 or X25519.')
  const enc = chooseEncoding(data.encrypted_response_enc_values_supported ?? [defaultEncoding])
  if (enc === undefined)
    throw invalid(
      `client_metadata.encrypted_response_enc_values_supported has none of ${encodings.join(', ')}.`,
    )
  return { jwk, enc }
}
