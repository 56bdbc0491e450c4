/** CBOR in text: the structures of ISO/IEC 18013-5, and lists as CBOR Web Tokens, by their outermost item. */
import { decodeCbor, type CborValue, Embedded, Tagged } from '../../foundation/cbor/index.ts'
import { sign1Tag } from '../../foundation/cose/index.ts'
import { type Binary, describe, type Given } from './binary.ts'
import { decodeSign1 } from './cose.ts'
import { type Decoded, DecodeError, reading, type Sources } from './decoded.ts'
import { decodeDeviceRequest } from './device-request.ts'
import { decodeIssuerSigned, decodeMso, decodeResponse } from './mdoc.ts'
import { isTranscript } from './session.ts'
import { decodeEncryption, decodeTranscript } from './transcript.ts'

type Reader = (given: Given, sources: Sources) => Decoded | Promise<Decoded>

const has =
  (...names: string[]) =>
  ({ value }: Given) =>
    value instanceof Map && names.some((name) => value.has(name))

/** Structures by their outermost item. */
const structures: readonly [is: (given: Given) => boolean, read: Reader][] = [
  [has('issuerAuth'), decodeIssuerSigned],
  [has('documents', 'documentErrors'), decodeResponse],
  [(given) => has('version')(given) && has('status')(given), decodeResponse],
  [has('docRequests'), decodeDeviceRequest],
  [has('valueDigests'), decodeMso],
  [({ value }) => Array.isArray(value) && value.length === 2 && value[0] === 'dcapi', decodeEncryption],
  [({ value }) => isTranscript(value), decodeTranscript],
  [({ value }) => isSign1(value), decodeSign1],
]

/** With its tag, which may be in that of a CWT, or without. */
function isSign1(value: CborValue): boolean {
  if (value instanceof Tagged) return value.tag === sign1Tag || (value.tag === 61 && isSign1(value.value))
  return (
    Array.isArray(value) && value.length === 4 && value[0] instanceof Uint8Array && value[1] instanceof Map
  )
}

/** Tags 24 around a structure. */
const maxWrappings = 4

/** @throws {DecodeError} for CBOR of no known kind, which it describes */
export async function decodeBinary(
  { bytes, encoding }: Binary,
  sources: Sources,
  wrappings = maxWrappings,
): Promise<Decoded> {
  const value = reading('CBOR', 'content', () => decodeCbor(bytes))
  if (value instanceof Embedded) {
    if (wrappings === 0) throw new DecodeError('This is CBOR whose content is nested too deeply (tag 24)')
    return decodeBinary({ bytes: value.content, encoding }, sources, wrappings - 1)
  }
  const given = { bytes, encoding, value }
  const known = structures.find(([is]) => is(given))
  if (known) return known[1](given, sources)
  throw new DecodeError(`This is CBOR, but of no known kind: ${describe(value)}. See its content with --cbor`)
}
