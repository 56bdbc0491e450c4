/**
 * How this wallet encrypts for another side: the key and the content encryption, from those that it names,
 * and the JWE (OpenID4VP 1.0 §8.3, VCI §10).
 */
import { CompactEncrypt, importJWK, type JWK } from 'jose'
import * as z from 'zod'
import { isPoint } from '../crypto/key-objects.ts'
import type { PublicJwk } from '../crypto/keys.ts'

/**
 * Keys of other types and for other purposes are ignored (RFC 7517 §5). A private key is none that another
 * side may send. `alg` is required, but a key for encryption needs none to be understood.
 */
const EncryptionJwk = z.looseObject({
  kty: z.enum(['EC', 'OKP']),
  crv: z.enum(['P-256', 'P-384', 'P-521', 'X25519']),
  x: z.string(),
  y: z.string().optional(),
  d: z.never().optional(),
  use: z.literal('enc').optional(),
  alg: z.literal('ECDH-ES').optional(),
  kid: z.string().optional(),
})
export type EncryptionKey = z.infer<typeof EncryptionJwk>

/** In the order of preference. */
export const encodings = ['A256GCM', 'A128GCM', 'A256CBC-HS512', 'A128CBC-HS256']

/** The first usable key. */
export function chooseKey(keys: readonly unknown[]): EncryptionKey | undefined {
  return keys
    .map((key) => EncryptionJwk.safeParse(key).data)
    .find((key) => key && (key.alg ?? key.use) !== undefined && isPoint(key as PublicJwk))
}

export function chooseEncoding(supported: readonly string[]): string | undefined {
  return encodings.find((each) => supported.includes(each))
}

/** Encrypts JSON by ECDH-ES. `jwk` is the chosen key, as it is stored. */
export async function encryptTo(
  { jwk, enc }: { jwk: object; enc: string },
  content: object,
): Promise<string> {
  const { kid } = jwk as { kid?: string }
  const header = { alg: 'ECDH-ES', enc, ...(kid !== undefined && { kid }) }
  const jwe = new CompactEncrypt(Buffer.from(JSON.stringify(content))).setProtectedHeader(header)
  return jwe.encrypt(await importJWK(jwk as JWK, 'ECDH-ES'))
}
