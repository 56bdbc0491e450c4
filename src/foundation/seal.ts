/**
 * Encrypts secrets at rest and tokens in URLs: AES-256-GCM (NIST SP 800-38D) with random 96-bit nonces.
 *
 * The context of a sealed text is its associated data, so that a text that was moved to another row or
 * purpose does not open. Keys of separate purposes are derived by HKDF-SHA-256 (RFC 5869).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { concat, fromBase64, fromMultibase, toBase64url, toMultibase } from './bytes.ts'

const nonceLength = 12

/** Derives the 32-byte key of a purpose from a 32-byte key. */
export function deriveSealKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), purpose, 32))
}

/** Calls `use` with the key of a purpose, and overwrites it with zeros afterwards. */
export function withSealKey<T>(key: Uint8Array, purpose: string, use: (derived: Uint8Array) => T): T {
  const derived = deriveSealKey(key, purpose)
  try {
    return use(derived)
  } finally {
    derived.fill(0)
  }
}

/** Generates a 32-byte key. */
export function newSealKey(): Uint8Array {
  return randomBytes(32)
}

/** Seals bytes or text for a `context`. Returns base64url. */
export function seal(key: Uint8Array, context: string, secret: Uint8Array | string): string {
  if (typeof secret !== 'string') return toBase64url(encrypt(key, context, secret, 16))
  const bytes = Buffer.from(secret)
  try {
    return toBase64url(encrypt(key, context, bytes, 16))
  } finally {
    bytes.fill(0)
  }
}

/** Opens a text of `seal`. @throws when the key, the context or any bit differs */
export function unseal(key: Uint8Array, context: string, sealed: string): Uint8Array {
  return decrypt(key, context, fromBase64(sealed), 16)
}

/**
 * Seals a few bytes into a token for a URL, in base58, because some agents break on `-` and `_`.
 *
 * The 96-bit tag, the shortest that SP 800-38D allows without a limit on use, keeps the token short for QR
 * codes.
 */
export function sealToken(key: Uint8Array, context: string, bytes: Uint8Array): string {
  return toMultibase(encrypt(key, context, bytes, 12)).slice(1)
}

/** Opens a token; undefined when `sealToken` did not create it with this key and context. */
export function unsealToken(key: Uint8Array, context: string, token: string): Uint8Array | undefined {
  if (token.length > 100) return undefined
  try {
    return decrypt(key, context, fromMultibase(`z${token}`), 12)
  } catch {
    return undefined
  }
}

/** A digest by which a secret can be found, and which reveals nothing without the key. Base64url. */
export function keyedDigest(key: Uint8Array, secret: string): string {
  return createHmac('sha256', key).update(secret).digest('base64url')
}

function encrypt(key: Uint8Array, context: string, secret: Uint8Array, authTagLength: 12 | 16): Uint8Array {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength })
  cipher.setAAD(Buffer.from(context))
  return concat(nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag())
}

function decrypt(key: Uint8Array, context: string, bytes: Uint8Array, authTagLength: 12 | 16): Uint8Array {
  if (bytes.length < nonceLength + authTagLength) throw new TypeError('too short to be sealed')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceLength), { authTagLength })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(-authTagLength))
  const opened = decipher.update(bytes.subarray(nonceLength, -authTagLength))
  try {
    // For GCM, `final` only compares the tag.
    decipher.final()
    return opened
  } catch (error) {
    opened.fill(0)
    throw error
  }
}
