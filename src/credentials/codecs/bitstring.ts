/**
 * Bitstring Status List 1.0 (W3C): the compressed bits (§3, the same in StatusList2021 §4) and the credential
 * that contains them (§2.2), signed as `vc+jwt` (VC-JOSE-COSE §3.1). Index 0 is the most significant bit of
 * the first byte; the compression is gzip (RFC 1952).
 */
import { gunzipSync, gzipSync } from 'node:zlib'
import { fromBase64, toBase64url } from '../../foundation/bytes.ts'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import { signJws } from './jws.ts'

/** Entries of a list: the minimum of both specifications, which protects the privacy of holders. */
export const listLength = 131_072

/**
 * The longest list that is read, uncompressed, unless a setting says otherwise: 33 million entries of one
 * bit. A few hundred bytes of gzip can expand to gigabytes.
 */
export const defaultListBytes = 4_194_304

/**
 * Compresses a list of `listLength` bits with those at `indexes` set.
 *
 * @throws {RangeError} for an index outside the list.
 */
export function compressBits(indexes: Iterable<number>): Uint8Array {
  const bits = new Uint8Array(listLength / 8)
  for (const index of indexes) {
    if (!Number.isInteger(index) || index < 0 || index >= listLength)
      throw new RangeError(`${index} is not an index of a status list`)
    bits[index >> 3]! |= 0x80 >> (index & 7)
  }
  return gzipSync(bits)
}

/**
 * Expands an `encodedList`: gzip in base64 or base64url, with or without padding, with or without the
 * multibase prefix `u` of Bitstring Status List. (Encoded gzip starts with `H`.)
 *
 * @throws {TypeError} for another encoding or length.
 */
export function expandBits(encodedList: string, maxBytes = defaultListBytes): Uint8Array {
  const bits = inflate(fromBase64(encodedList.replace(/^u(?=H)/, '')), maxBytes)
  if (bits.length < listLength / 8)
    throw new TypeError(
      `the status list has ${bits.length} bytes, fewer than the ${listLength / 8} it must have`,
    )
  return bits
}

/**
 * Reads an entry of `size` bits, of which the first is the most significant one.
 *
 * @throws {TypeError} when the list has no such entry.
 */
export function entryAt(bits: Uint8Array, index: number, size = 1): number {
  const count = Math.floor((bits.length * 8) / size)
  if (!Number.isSafeInteger(index) || index < 0 || index >= count)
    throw new TypeError(`the status list of ${count} entries has none with the index ${index}`)
  let value = 0
  for (let at = index * size; at < (index + 1) * size; at++)
    value = value * 2 + ((bits[Math.floor(at / 8)]! >> (7 - (at % 8))) & 1)
  return value
}

/** The number of bits that are set. */
export function countBits(bits: Uint8Array): number {
  let count = 0
  for (let byte of bits) for (; byte !== 0; byte &= byte - 1) count += 1
  return count
}

function inflate(bytes: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    const isTooLong = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw new TypeError(
      isTooLong ? `the status list is longer than ${maxBytes} bytes` : 'the status list is not gzip',
      { cause },
    )
  }
}

/** `bits` is compressed, `kid` a DID URL, `validFrom` an ISO 8601 instant. */
export type BitstringStatusListContent = {
  url: string
  issuerDid: string
  kid: string
  key: PrivateJwk
  bits: Uint8Array
  validFrom: string
}

/** Signs a revocation list. Returns the compact JWT. */
export function createBitstringStatusList(content: BitstringStatusListContent): string {
  const { url, issuerDid, kid, key, bits, validFrom } = content
  const credential = {
    '@context': ['https://www.w3.org/ns/credentials/v2'],
    id: url,
    type: ['VerifiableCredential', 'BitstringStatusListCredential'],
    issuer: issuerDid,
    validFrom,
    credentialSubject: {
      id: `${url}#list`,
      type: 'BitstringStatusList',
      statusPurpose: 'revocation',
      encodedList: `u${toBase64url(bits)}`,
    },
  }
  return signJws({ typ: 'vc+jwt', kid }, { iss: issuerDid, ...credential }, key)
}
