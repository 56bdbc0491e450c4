/** A wallet that encrypts its requests and reads encrypted responses (VCI §10), with jose. */
import { CompactEncrypt, compactDecrypt, importJWK, type CompactJWEHeaderParameters, type JWK } from 'jose'
import { generateKey, toPublic, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { ask } from '../../support/ask.ts'
import type { Issuer } from './_wallet.ts'

export type ResponseKey = { key: PrivateJwk; parameters: { jwk: JWK; enc: string; zip?: string } }

/** A key for responses, and the `credential_response_encryption` for it. `members` replace those of the key. */
export function newResponseKey(members: object = {}, enc = 'A256GCM'): ResponseKey {
  const key = generateKey('P-256')
  return {
    key,
    parameters: { jwk: { ...toPublic(key), kid: 'wallet', use: 'enc', alg: 'ECDH-ES', ...members }, enc },
  }
}

export async function metadataOf({ agent, issuerId }: Issuer): Promise<any> {
  return (await ask(agent, `GET /.well-known/openid-credential-issuer/oid4vci/issuers/${issuerId}`)).body
}

/** Encrypts a request to the key in the metadata. `header` replaces members of the header. */
export async function encryptRequest(
  setup: Issuer,
  request: object | string,
  header: Partial<CompactJWEHeaderParameters> = {},
): Promise<string> {
  const { jwks, enc_values_supported: encs } = (await metadataOf(setup)).credential_request_encryption
  const [jwk] = jwks.keys
  const text = typeof request === 'string' ? request : JSON.stringify(request)
  return new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg: jwk.alg, enc: encs[0], kid: jwk.kid, ...header })
    .encrypt(await importJWK(jwk))
}

export async function decryptResponse(jwe: string, { key }: ResponseKey) {
  const { plaintext, protectedHeader } = await compactDecrypt(
    jwe,
    await importJWK({ ...key, alg: 'ECDH-ES' }),
  )
  return { header: protectedHeader, body: JSON.parse(Buffer.from(plaintext).toString()) }
}
