/**
 * CBOR (RFC 8949) from outside and to outside. What is read has limits. What is written is deterministic
 * (§4.2.1), but what another made keeps its bytes.
 */
import { type CborLimits, type Finding, readCbor } from './read.ts'
import type { CborValue } from './value.ts'

export { diagnose } from './diagnose.ts'
export { type CborLimits, defaultLimits, type Finding } from './read.ts'
export { CborError, type CborMap, type CborValue, Embedded, Tagged } from './value.ts'
export { embed, encodeCbor } from './write.ts'

/**
 * Decodes one item. Maps are `Map`, with integers, texts and byte strings as keys. Byte strings are views of
 * the input. Arrays and maps of indefinite length are accepted, and heads that are longer than they must be:
 * `scanCbor` finds those.
 *
 * @throws {CborError} for what is not well-formed or exceeds a limit; for a key that occurs twice; for bytes
 * after the end; for text that is not UTF-8; for strings of indefinite length
 */
export function decodeCbor(bytes: Uint8Array, limits?: Partial<CborLimits>): CborValue {
  return readCbor(bytes, limits).value
}

/**
 * What a strict reader warns of in one item. The order of keys is free.
 *
 * @throws {CborError} as `decodeCbor`
 */
export function scanCbor(bytes: Uint8Array, limits?: Partial<CborLimits>): Finding[] {
  return readCbor(bytes, limits).findings
}
