/**
 * Sealing of secrets at rest and of tokens handed out: AES-256-GCM (NIST SP 800-38D) with random 96-bit nonces.
 *
 * What a sealed text is for is bound into it as associated data, so a text moved to another row or
 * another purpose does not open. Keys for separate purposes are derived by HKDF-SHA-256 (RFC 5869).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { concat, fromBase64, fromMultibase, toBase64url, toMultibase } from './bytes.ts'

const nonceLength = 12

/** A 32-byte key for one purpose, from a 32-byte key for many. */
export function deriveSealKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), purpose, 32))
}

/** Lets `use` have the key for one purpose, which is filled with zeros afterwards. */
export function withSealKey<T>(key: Uint8Array, purpose: string, use: (derived: Uint8Array) => T): T {
  const derived = deriveSealKey(key, purpose)
  try {
    return use(derived)
  } finally {
    derived.fill(0)
  }
}

/** Makes a random 32-byte key. */
export function newSealKey(): Uint8Array {
  return randomBytes(32)
}

/** Seals bytes or text; `context` says what for. Base64url. */
export function seal(key: Uint8Array, context: string, secret: Uint8Array | string): string {
  if (typeof secret !== 'string') return toBase64url(encrypt(key, context, secret, 16))
  const bytes = Buffer.from(secret)
  try {
    return toBase64url(encrypt(key, context, bytes, 16))
  } finally {
    bytes.fill(0)
  }
}

/** Opens what `seal` made. @throws when the key, the context or a single bit is another. */
export function unseal(key: Uint8Array, context: string, sealed: string): Uint8Array {
  return decrypt(key, context, fromBase64(sealed), 16)
}

/**
 * Seals a few bytes into a token for a URL: base58, because peers break on `-` and `_` (wire.md 11.1).
 *
 * The 96-bit tag (the shortest that SP 800-38D allows without a limit on use) keeps the token short: it sits in QR codes.
 */
export function sealToken(key: Uint8Array, context: string, bytes: Uint8Array): string {
  return toMultibase(encrypt(key, context, bytes, 12)).slice(1)
}

/** Opens a token, or gives `undefined` for anything that `sealToken` did not make with this key and context. */
export function unsealToken(key: Uint8Array, context: string, token: string): Uint8Array | undefined {
  if (token.length > 100) return undefined
  try {
    return decrypt(key, context, fromMultibase(`z${token}`), 12)
  } catch {
    return undefined
  }
}

/** A digest by which a secret is found again and that tells nothing about it without the key. Base64url. */
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
    // In this mode the end adds nothing: it compares the tag.
    decipher.final()
    return opened
  } catch (error) {
    opened.fill(0)
    throw error
  }
}
