/**
 * Text forms of bytes: base64url (RFC 4648 §5), base58btc, hexadecimal and UTF-8.
 *
 * Encoders write base64url without padding unless they say so. Decoders for what peers send take
 * both alphabets with or without padding, because real peers mix them (wire.md 1.4).
 */
import { base58btc } from 'multiformats/bases/base58'

/** Writes bytes as base64url without padding. */
export function toBase64url(bytes: Uint8Array | string): string {
  return view(bytes).toString('base64url')
}

/** Writes bytes as base64url with `=` padding, as the real agent does in attachments and invitations. */
export function toPaddedBase64url(bytes: Uint8Array | string): string {
  const text = toBase64url(bytes)
  return text + '='.repeat((4 - (text.length % 4)) % 4)
}

/**
 * Reads base64 in the standard or the URL-safe alphabet, padded or not.
 *
 * @throws {TypeError} for any other character, or a length no encoder produces.
 */
export function fromBase64(text: string): Uint8Array {
  const bare = text.replace(/={1,2}$/, '')
  if (!/^[A-Za-z0-9+/_-]*$/.test(bare) || bare.length % 4 === 1) throw new TypeError('not base64')
  return Buffer.from(bare, 'base64url')
}

/** Reads base64url without padding. @throws {TypeError} when the text is not the only encoding of its bytes (RFC 7515 §2). */
export function fromStrictBase64url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw new TypeError('is not canonical base64url')
  return bytes
}

/** Writes bytes as multibase base58btc: `z` and then base58. */
export function toMultibase(bytes: Uint8Array): string {
  return base58btc.encode(bytes)
}

/** Reads multibase base58btc. @throws when the text is not `z` and base58. */
export function fromMultibase(text: string): Uint8Array {
  return base58btc.decode(text)
}

/** Writes bytes as lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return view(bytes).toString('hex')
}

/** Reads hexadecimal. @throws {TypeError} when a character is not a hex digit or one is missing. */
export function fromHex(text: string): Uint8Array {
  if (!/^([0-9a-fA-F]{2})*$/.test(text)) throw new TypeError('not hexadecimal')
  return Buffer.from(text, 'hex')
}

/** Writes text as UTF-8. */
export function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads UTF-8. @throws {TypeError} for bytes that are not UTF-8. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** Joins byte arrays. */
export function concat(...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

/** Bytes as they lie: a copy of a key would stay in the memory that short buffers share. */
function view(bytes: Uint8Array | string): Buffer {
  if (typeof bytes === 'string') return Buffer.from(bytes)
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
