/**
 * Encrypted requests and responses of the credential endpoints (VCI §10). Responses are encrypted where the
 * issuer offers that, and requests with them, because someone between wallet and issuer could replace the key
 * of the response.
 */
import { compactDecrypt, importJWK } from 'jose'
import { fromUtf8 } from '../../../foundation/bytes.ts'
import { isJsonObject, tryParseJson } from '../../../foundation/json.ts'
import { generateKey, toPublic, type PrivateJwk } from '../../../foundation/crypto/keys.ts'
import type { StoredOpenId4VciOffer } from '../../issuance/openid4vci.ts'
import { chooseEncoding, chooseKey, encryptTo } from '../../../foundation/oauth/encryption-choice.ts'
import type { Answer } from './answer.ts'
import { refused } from './caller.ts'
import type { ReceivedIssuerMetadata } from './issuer-metadata.ts'
import { unsupportedOffer } from './offer.ts'

const alg = 'ECDH-ES'

/** The longest response, decompressed, in bytes. */
const maxBytes = 1_048_576

type Encryption = NonNullable<StoredOpenId4VciOffer['encryption']>

/**
 * Undefined if nothing is encrypted.
 *
 * @throws {Problem} `InvalidCredentialOffer` if the issuer requires an encryption that this wallet does not
 * have
 */
export function chooseEncryption(metadata: ReceivedIssuerMetadata): Encryption | undefined {
  const { credential_request_encryption: request, credential_response_encryption: response } = metadata
  const jwk = request && chooseKey(request.jwks?.keys ?? [])
  const enc = request && chooseEncoding(request.enc_values_supported ?? [])
  const answered = response && chooseEncoding(response.enc_values_supported ?? [])
  const hasResponse = answered !== undefined && response!.alg_values_supported?.includes(alg) === true
  if (!jwk || enc === undefined) {
    if (request?.encryption_required)
      throw unsupportedOffer(
        `the issuer requires encrypted requests, and has no key or algorithm for ${alg} with AES`,
      )
    if (response?.encryption_required)
      throw unsupportedOffer(
        'the issuer requires encrypted responses, and has no key for the encrypted request',
      )
    return undefined
  }
  if (response?.encryption_required && !hasResponse)
    throw unsupportedOffer(`the issuer requires encrypted responses by other algorithms than ${alg} with AES`)
  if (!hasResponse && !request.encryption_required) return undefined
  return { request: { jwk, enc }, ...(hasResponse && { response: { enc: answered } }) }
}

/** A request as it is sent, and how its response is read. */
export type Sealed = { jwt: string; open: (answer: Answer, url: string) => Promise<Answer> }

/** Encrypts a request. The response is encrypted to a key that only this request has. */
export async function sealRequest({ request, response }: Encryption, json: object): Promise<Sealed> {
  const key = response && generateKey('P-256')
  const parameters = key && { jwk: { ...toPublic(key), use: 'enc', alg }, enc: response.enc }
  const all = { ...json, ...(parameters && { credential_response_encryption: parameters }) }
  const jwt = await encryptTo(request, all)
  return { jwt, open: (answer, url) => openResponse(answer, url, key, response?.enc) }
}

/**
 * Errors are not encrypted (VCI §8.3.1).
 *
 * @throws {Problem} `IssuerRefused` if a response is not encrypted as it was asked for
 */
async function openResponse(
  answer: Answer,
  url: string,
  key: PrivateJwk | undefined,
  enc: string | undefined,
): Promise<Answer> {
  if (!key || answer.status >= 300) return answer
  if (answer.body) throw refused(url, 'its response is not encrypted, which the request asked for')
  try {
    const { plaintext } = await compactDecrypt(answer.text.trim(), await importJWK({ ...key, alg }), {
      keyManagementAlgorithms: [alg],
      contentEncryptionAlgorithms: [enc!],
      maxDecompressedLength: maxBytes,
    })
    const body = tryParseJson(fromUtf8(plaintext))
    return { ...answer, body: isJsonObject(body) ? body : undefined }
  } catch (cause) {
    throw refused(url, 'its response cannot be decrypted with the key of the request', cause)
  }
}
