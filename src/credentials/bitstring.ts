/** The bits of a status list (StatusList2021 §4, Bitstring Status List 1.0 §3): index 0 is the first byte's most significant bit; gzip (RFC 1952) around it. */
import { gunzipSync, gzipSync } from 'node:zlib'
import { fromBase64 } from '../base/bytes.ts'

/** How many credentials a list is for: the least that both specifications allow, so that one of them does not stand out. */
export const listLength = 131_072

/** The longest list that is read, in bytes of bits: eight million credentials. A few hundred bytes of gzip can stand for gigabytes (threats C10). */
const maxBytes = 1_048_576

/** A compressed list of `listLength` bits with those at `indexes` set. @throws {RangeError} for an index that is not in it. */
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
 * Reads an `encodedList`: gzip in base64 or base64url, with or without padding, and with or without the multibase prefix `u` of the
 * newer specification (gzip itself begins with `H`).
 *
 * @throws {TypeError} when it is not that, or shorter or longer than is read.
 */
export function expandBits(encodedList: string): Uint8Array {
  const bits = inflate(fromBase64(encodedList.replace(/^u(?=H)/, '')))
  if (bits.length < listLength / 8)
    throw new TypeError(
      `the status list has ${bits.length} bytes, fewer than the ${listLength / 8} it must have`,
    )
  return bits
}

/** Whether a bit is set. @throws {TypeError} when the list has no such bit. */
export function isSet(bits: Uint8Array, index: number): boolean {
  const byte = Number.isSafeInteger(index) && index >= 0 ? bits[Math.floor(index / 8)] : undefined
  if (byte === undefined)
    throw new TypeError(`the status list of ${bits.length * 8} entries has none with the index ${index}`)
  return (byte & (0x80 >> (index % 8))) !== 0
}

function inflate(bytes: Uint8Array): Uint8Array {
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
