/**
 * Values of CBOR (RFC 8949). Signatures and digests cover bytes as received, so a byte string with tag 24
 * (encoded CBOR data item, §3.4.5.1) keeps all of its bytes.
 */

/** Integers beyond ±(2⁵³ − 1) are `bigint`. `undefined` is the simple value 23. */
export type CborValue =
  | number
  | bigint
  | string
  | boolean
  | null
  | undefined
  | Uint8Array
  | CborValue[]
  | CborMap
  | Embedded
  | Tagged
export type CborMap = Map<CborValue, CborValue>

/** A value with a tag. Tag 24 has a class of its own, `Embedded`. */
export class Tagged {
  readonly tag: number
  readonly value: CborValue

  constructor(tag: number, value: CborValue) {
    this.tag = tag
    this.value = value
  }
}

/** The tag of a byte string that holds encoded CBOR. */
export const embeddedTag = 24

/** A byte string with tag 24, which holds encoded CBOR. */
export class Embedded {
  /** Tag, head and content, exactly as received. Digests of ISO 18013-5 are over these. */
  readonly bytes: Uint8Array
  /** The content of the byte string, not decoded. */
  readonly content: Uint8Array

  constructor(bytes: Uint8Array, content: Uint8Array) {
    this.bytes = bytes
    this.content = content
  }
}

/** What is wrong with CBOR. The message names the reason and the place: "nested deeper than 16 at byte 41". */
export class CborError extends Error {
  override name = 'CborError'
  /** The byte at which the faulty item begins. */
  readonly offset: number

  constructor(reason: string, offset: number, options?: ErrorOptions) {
    super(`${reason} at byte ${offset}`, options)
    this.offset = offset
  }
}
