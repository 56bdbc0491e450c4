/**
 * Encrypted requests and responses of the credential endpoints (VCI §10): JWE by ECDH-ES on P-256, with
 * AES-GCM.
 */
import { CompactEncrypt, compactDecrypt, importJWK } from 'jose'
import * as z from 'zod'
import { firstFault } from '../../foundation/faults.ts'
import { utf8 } from '../../foundation/bytes.ts'
import { parseJson } from '../../foundation/json.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { findPrivateKey, type EncryptionJwk } from './encryption-key.ts'
import type { IssuerRow } from './issuers.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'

const alg = 'ECDH-ES'
const encs = ['A128GCM', 'A256GCM'] as const
const zips = ['DEF'] as const

/** The longest request, decompressed, in bytes. */
const maxBytes = 1_048_576

const common = {
  enc_values_supported: z.array(z.string()),
  zip_values_supported: z.array(z.string()),
  encryption_required: z.boolean(),
}

/** The members of the metadata (VCI §12.2.4). */
export const EncryptionMetadata = z.object({
  credential_request_encryption: z
    .object({
      jwks: z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) }),
      ...common,
    })
    .optional(),
  credential_response_encryption: z
    .object({ alg_values_supported: z.array(z.string()), ...common })
    .optional(),
})

export function describeEncryption(
  key: EncryptionJwk,
  isRequired: boolean,
): z.infer<typeof EncryptionMetadata> {
  const supported = {
    enc_values_supported: [...encs],
    zip_values_supported: [...zips],
    encryption_required: isRequired,
  }
  return {
    credential_request_encryption: { jwks: { keys: [key] }, ...supported },
    credential_response_encryption: { alg_values_supported: [alg], ...supported },
  }
}

/** The `credential_response_encryption` of a request (VCI §8.2). */
export const ResponseEncryption = z.looseObject({
  jwk: z.looseObject({
    kty: z.literal('EC'),
    crv: z.literal('P-256', { error: 'this issuer encrypts to keys on P-256 only' }),
    x: z.string(),
    y: z.string(),
    alg: z.literal(alg, { error: `this issuer encrypts with ${alg} only` }),
    kid: z.string().optional(),
  }),
  enc: z.enum(encs),
  zip: z.enum(zips).optional(),
})

/**
 * Decrypts the body of a request. Bodies of other media types than `application/jwt` are returned as they
 * are.
 *
 * @throws {OAuthError} `invalid_encryption_parameters`, `invalid_credential_request`
 */
export async function openRequest(
  wallet: Wallet,
  issuer: IssuerRow,
  body: unknown,
): Promise<{ body: unknown; isEncrypted: boolean }> {
  if (typeof body !== 'string') {
    if (issuer.encryption_required)
      throw invalid('This issuer requires encrypted requests (application/jwt).')
    return { body, isEncrypted: false }
  }
  const text = await decrypt(wallet, issuer, body)
  try {
    return { body: parseJson(text), isEncrypted: true }
  } catch (cause) {
    throw new OAuthError('invalid_credential_request', 'The encrypted request is not JSON.', { cause })
  }
}

async function decrypt(wallet: Wallet, issuer: IssuerRow, jwe: string): Promise<Uint8Array> {
  const own = findPrivateKey(wallet, issuer)
  try {
    const { plaintext, protectedHeader } = await compactDecrypt(
      jwe.trim(),
      await importJWK({ ...own?.key, alg }),
      {
        keyManagementAlgorithms: [alg],
        contentEncryptionAlgorithms: [...encs],
        maxDecompressedLength: maxBytes,
      },
    )
    if (protectedHeader.kid === own?.kid) return plaintext
  } catch (cause) {
    throw invalid(
      'The request cannot be decrypted. Encrypt it to the key of credential_request_encryption in the metadata.',
      cause,
    )
  }
  throw invalid('The kid of the encrypted request is not that of the key in the metadata.')
}

/** Encrypts a response. */
export type Seal = (response: object) => Promise<string>

/**
 * Reads how a response is to be encrypted. Undefined: it is not.
 *
 * @throws {OAuthError} `invalid_encryption_parameters`
 */
export async function readResponseEncryption(
  { encryption_required: isRequired }: IssuerRow,
  parameters: unknown,
  isEncrypted: boolean,
): Promise<Seal | undefined> {
  if (parameters === undefined) {
    if (isRequired) throw invalid('This issuer requires credential_response_encryption.')
    return undefined
  }
  // VCI §8.2: someone between wallet and issuer could replace the key.
  if (!isEncrypted) throw invalid('A request with credential_response_encryption must be encrypted.')
  const { success, data, error } = ResponseEncryption.safeParse(parameters)
  if (!success) throw invalid(firstFault(error, 'credential_response_encryption'))
  const { jwk, enc, zip } = data
  const { kty, crv, x, y, kid } = jwk
  const key = await importJWK({ kty, crv, x, y }, alg).catch((cause: unknown) => {
    throw invalid('credential_response_encryption.jwk: it is not a point on P-256.', cause)
  })
  const header = { alg, enc, ...(kid !== undefined && { kid }), ...(zip && { zip }) }
  return (response) =>
    new CompactEncrypt(utf8(JSON.stringify(response))).setProtectedHeader(header).encrypt(key)
}

function invalid(description: string, cause?: unknown): OAuthError {
  return new OAuthError('invalid_encryption_parameters', description, { cause })
}
