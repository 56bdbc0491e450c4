/**
 * Searches for secrets in all output, in every encoding. It searches for overlapping pieces of about eight
 * bytes of each form, so it also finds a part of a secret: in a truncated text, in a page of a database, or
 * in an error that quotes its input.
 */
import { base58btc } from 'multiformats/bases/base58'

/** A secret. Findings contain its name, never its value. */
export type Canary = { name: string; value: Uint8Array | string }

/** The names of the secrets in a place. */
export type Sweep = (place: Uint8Array | string) => string[]

type Piece = { bytes: Buffer; name: string }

/** The distance between pieces, and their length in bytes, digits or letters. */
const step = 4
const lengths = { bytes: 8, hex: 16, letters: 12 }

/** Codes of private keys in the multicodec table, as varints: Ed25519, secp256k1, X25519. */
const codecs = [[], [0x80, 0x26], [0x81, 0x26], [0x82, 0x26]]

/** Creates the search for secrets of at least eight bytes. */
export function createSweep(canaries: readonly Canary[]): Sweep {
  const pieces = new Map<number, Piece[]>()
  const mayBegin = new Uint8Array(1 << 20)
  for (const { name, value } of canaries) {
    for (const bytes of piecesOf(value)) {
      const start = bytes.readUInt32BE(0)
      mayBegin[hash(start)] = 1
      const known = pieces.get(start)
      if (known) known.push({ bytes, name })
      else pieces.set(start, [{ bytes, name }])
    }
  }
  const search = (place: Buffer, found: Set<string>) => {
    let last4 = 0
    for (let end = 0; end < place.length; end++) {
      last4 = ((last4 << 8) | place[end]!) >>> 0
      if (mayBegin[hash(last4)] === 0) continue
      const from = end - 3
      for (const { bytes, name } of pieces.get(last4) ?? [])
        if (place.compare(bytes, 0, bytes.length, from, Math.min(from + bytes.length, place.length)) === 0)
          found.add(name)
    }
  }
  return (place) => {
    const bytes = Buffer.from(place as Uint8Array)
    const found = new Set<string>()
    search(bytes, found)
    search(fold(bytes), found)
    return [...found].toSorted()
  }
}

/** Every piece of every form of a secret. */
function piecesOf(value: Uint8Array | string): Buffer[] {
  const bytes = Buffer.from(value as Uint8Array)
  if (bytes.length < lengths.bytes) throw new TypeError('a secret of less than eight bytes is in every file')
  const isText = typeof value === 'string'
  const digits = [bytes.toString('hex'), bytes.toString('hex').toUpperCase()]
  const letters = [
    ...base64Of(bytes),
    ...(isText ? [JSON.stringify(value).slice(1, -1), encodeURIComponent(value)] : base58Of(bytes)),
    // As in a JWK that is encoded in base64.
    ...[bytes.toString('base64'), bytes.toString('base64url'), digits[0]!].flatMap((text) =>
      base64Of(Buffer.from(text)),
    ),
  ]
  const raw = isText
    ? [bytes, fold(bytes), Buffer.from(value, 'utf16le')].flatMap((each) => cut(each, lengths.letters))
    : cut(bytes, lengths.bytes)
  return [
    ...raw,
    ...digits.flatMap((text) => cut(Buffer.from(text), lengths.hex)),
    ...[...new Set(letters)].flatMap((text) => cut(Buffer.from(text), lengths.letters)),
    ...listsOf(bytes).map((text) => Buffer.from(text)),
  ]
}

/** In both alphabets, at offsets of zero, one and two bytes: in a PEM, in a JWK in base64, in a longer text. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // The letters at both ends contain bits of adjacent bytes.
    const certain = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return [certain, certain.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** In multibase, with and without the codes of private keys. */
function base58Of(bytes: Buffer): string[] {
  return codecs.map((codec) => base58btc.encode(Buffer.concat([Buffer.from(codec), bytes])).slice(1))
}

/** In the JSON of a `Buffer` and of a `Uint8Array`. */
function listsOf(bytes: Buffer): string[] {
  const [list, object] = [[...bytes.subarray(0, 16)], { ...bytes.subarray(0, 16) }]
  return [JSON.stringify(list), JSON.stringify(object).replaceAll(':', '')].map((text) => text.slice(1, -1))
}

/** Removes separators of long texts: white space, `:`, and escaped line breaks. */
function fold(bytes: Buffer): Buffer {
  const kept = Buffer.alloc(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x3a) continue
    if (byte === 0x5c && (bytes[at + 1] === 0x6e || bytes[at + 1] === 0x72)) at++
    else kept[length++] = byte
  }
  return kept.subarray(0, length)
}

function cut(bytes: Buffer, length: number): Buffer[] {
  if (bytes.length <= length) return [bytes]
  const pieces: Buffer[] = []
  for (let at = 0; at + length < bytes.length; at += step) pieces.push(bytes.subarray(at, at + length))
  return [...pieces, bytes.subarray(-length)]
}

function hash(start: number): number {
  return Math.imul(start, 0x9e3779b1) >>> 12
}
