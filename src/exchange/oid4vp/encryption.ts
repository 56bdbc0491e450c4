/**
 * Encrypted responses (OpenID4VP 1.0 §8.3): a key for each request, and the content that a wallet has
 * encrypted to it.
 */
import { compactDecrypt, errors } from 'jose'
import { randomId } from '../../foundation/id.ts'
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../../foundation/json.ts'
import { generateKey, type PrivateJwk, toPublic } from '../../foundation/crypto/keys.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'

const algorithm = 'ECDH-ES'
const encodings = ['A128GCM', 'A256GCM']

export type EncryptionKey = { kid: string; [member: string]: unknown }

/** A key for one response: the private one, and the public one with the members that wallets choose by. */
export function newEncryptionKey(): { privateJwk: PrivateJwk; encryptionKey: EncryptionKey } {
  const privateJwk = generateKey('P-256')
  const encryptionKey = { ...toPublic(privateJwk), kid: randomId(), use: 'enc', alg: algorithm }
  return { privateJwk, encryptionKey }
}

/** The members of `client_metadata` that ask for encryption. */
export function encryptionMetadata(key: EncryptionKey): object {
  return { jwks: { keys: [key] }, encrypted_response_enc_values_supported: encodings }
}

/** The parameters of an encrypted response. @throws {OAuthError} `invalid_request` */
export async function decryptResponse(
  jwe: string,
  { kid }: Pick<EncryptionKey, 'kid'>,
  key: PrivateJwk,
): Promise<JsonObject> {
  try {
    const { plaintext, protectedHeader } = await compactDecrypt(
      jwe,
      { ...key },
      { keyManagementAlgorithms: [algorithm], contentEncryptionAlgorithms: encodings },
    )
    if (protectedHeader.kid !== kid) throw unreadable('is for another key')
    const content = parseJson(plaintext)
    if (isJsonObject(content)) return content
    throw unreadable('contains no JSON object')
  } catch (error) {
    if (error instanceof JsonError) throw unreadable(`contains what ${error.message}`, error)
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw unreadable(
        `cannot be decrypted: it must be a compact JWE with ${algorithm} and ${encodings.join(' or ')}, to the key of the request`,
        error,
      )
    throw error
  }
}

function unreadable(fault: string, cause?: unknown): OAuthError {
  return new OAuthError('invalid_request', `response ${fault}.`, { cause })
}
