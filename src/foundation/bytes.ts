/**
 * Text forms of bytes: base64url (RFC 4648 §5), base58btc, hexadecimal and UTF-8.
 *
 * Encoders write base64url without padding. Decoders of received texts accept both alphabets with and without
 * padding, because agents mix them.
 */
import { base58btc } from 'multiformats/bases/base58'

/** Encodes bytes as base64url without padding. */
export function toBase64url(bytes: Uint8Array | string): string {
  return view(bytes).toString('base64url')
}

/** Encodes bytes as base64url with `=` padding, as the Cloud Agent does in attachments and invitations. */
export function toPaddedBase64url(bytes: Uint8Array | string): string {
  const text = toBase64url(bytes)
  return text + '='.repeat((4 - (text.length % 4)) % 4)
}

/** Decodes base64 in either alphabet, with or without padding. @throws {TypeError} */
export function fromBase64(text: string): Uint8Array {
  const bare = text.replace(/={1,2}$/, '')
  if (!/^[A-Za-z0-9+/_-]*$/.test(bare) || bare.length % 4 === 1) throw new TypeError('not base64')
  return Buffer.from(bare, 'base64url')
}

/**
 * Decodes base64url (RFC 7515 §2): no padding and no other characters. The unused bits of the last character
 * must be zero, which decoders commonly ignore.
 *
 * @throws {TypeError} for another encoding, with what it is, as a predicate
 */
export function fromStrictBase64url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') === text) return bytes
  const [found] = /[^\w-]/.exec(text) ?? []
  const fault =
    found === undefined ? 'its last character is wrong' : (foreign[found] ?? describeForeign(found))
  throw new TypeError(`is not canonical base64url: ${fault}`)
}

/** The likely mistakes behind characters outside of base64url. */
const foreign: Readonly<Record<string, string>> = {
  '=': 'it has padding (=), which JOSE leaves out',
  '+': 'it is base64 (+), which is another alphabet',
  '/': 'it is base64 (/), which is another alphabet',
  '~': 'it has a ~, as SD-JWTs have, and those are not of this format',
  '.': 'it has a dot',
}

function describeForeign(character: string): string {
  return /\s/.test(character)
    ? 'it has a space or a line break'
    : 'it has other characters than letters, digits, - and _'
}

/** Encodes bytes as multibase base58btc, with the prefix `z`. */
export function toMultibase(bytes: Uint8Array): string {
  return base58btc.encode(bytes)
}

/** Decodes multibase base58btc. @throws when the text is not `z` and base58 */
export function fromMultibase(text: string): Uint8Array {
  return base58btc.decode(text)
}

/** Encodes bytes as lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return view(bytes).toString('hex')
}

/** Decodes hexadecimal. @throws {TypeError} for other characters, or an odd length */
export function fromHex(text: string): Uint8Array {
  if (!/^([0-9a-fA-F]{2})*$/.test(text)) throw new TypeError('not hexadecimal')
  return Buffer.from(text, 'hex')
}

export function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Decodes UTF-8. @throws {TypeError} for bytes that are not UTF-8 */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

export function concat(...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

/** Not a copy: a copy of a key would stay in the pool that Node.js shares between short buffers. */
function view(bytes: Uint8Array | string): Buffer {
  if (typeof bytes === 'string') return Buffer.from(bytes)
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
