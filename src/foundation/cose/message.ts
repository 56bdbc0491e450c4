/**
 * What COSE messages have in common (RFC 9052 §2, §3): an array of protected header, unprotected header,
 * payload, and signature or MAC.
 */
import { CborError, type CborMap, type CborValue, decodeCbor, encodeCbor, Tagged } from '../cbor/index.ts'

/** Labels of headers (RFC 9052 §3.1, RFC 9360, RFC 9596). */
export const header = { alg: 1, crit: 2, contentType: 3, kid: 4, typ: 16, x5chain: 33 } as const

export type CoseHeaders = {
  /** The content of the protected byte string, as received. The signature covers it. */
  protectedBytes: Uint8Array
  protected: CborMap
  unprotected: CborMap
  /** The content of the byte string. Null if it is elsewhere. */
  payload: Uint8Array | null
}

/** What a strict reader refuses and this one accepts. */
export type CoseWarning = keyof typeof coseWarnings

/** The warnings in words, as predicates of the message. */
export const coseWarnings = {
  tagged: 'has a tag, where an untagged array belongs',
  untagged: 'has no tag, where a tagged array belongs',
  'cwt-tag': 'has the tag 61 of a CWT',
  'payload-undefined': 'has the payload undefined instead of null',
  'x5chain-protected': 'has x5chain in the protected header instead of the unprotected',
} as const

export type ReadOptions = {
  /** Whether the message may have its tag. It is accepted with a warning if not, as by default. */
  isTagAllowed?: boolean
  warn?: (warning: CoseWarning) => void
}

/** A structure of COSE that is not as it must be, with the reason. */
export class CoseError extends Error {
  override name = 'CoseError'
}

/** Headers that are understood, so that a message may call them critical (RFC 9052 §3.1). */
const understood: readonly CborValue[] = Object.values(header)

/**
 * Reads a message. Its authenticator, the fourth member, is not verified.
 *
 * @throws {CoseError}
 */
export function readMessage(
  value: CborValue,
  tag: number,
  { isTagAllowed = false, warn }: ReadOptions,
): CoseHeaders & { authenticator: Uint8Array } {
  const isTagged = value instanceof Tagged && value.tag === tag
  if (isTagged && !isTagAllowed) warn?.('tagged')
  const parts = isTagged ? value.value : value
  if (!Array.isArray(parts)) throw new CoseError(`${nameOf(parts)} is there, instead of an array of four`)
  if (parts.length !== 4) throw new CoseError(`the array has ${parts.length} members, not four`)
  const [protectedBytes, unprotected, payload, authenticator] = parts
  if (!(protectedBytes instanceof Uint8Array)) throw notBytes('protected header', protectedBytes)
  if (!(unprotected instanceof Map)) throw new CoseError('the unprotected header is not a map')
  if (payload === undefined) warn?.('payload-undefined')
  else if (payload !== null && !(payload instanceof Uint8Array)) throw notBytes('payload', payload)
  if (!(authenticator instanceof Uint8Array)) throw notBytes('signature or MAC', authenticator)
  const protectedHeaders = readProtected(protectedBytes)
  checkHeaders(protectedHeaders, unprotected)
  return {
    protectedBytes,
    protected: protectedHeaders,
    unprotected,
    payload: payload ?? null,
    authenticator,
  }
}

function readProtected(bytes: Uint8Array): CborMap {
  if (bytes.length === 0) return new Map()
  try {
    const map = decodeCbor(bytes)
    if (map instanceof Map) return map
  } catch (cause) {
    if (!(cause instanceof CborError)) throw cause
    throw new CoseError(`the protected header is not CBOR: ${cause.message}`, { cause })
  }
  throw new CoseError('the protected header is not a map')
}

function checkHeaders(protectedHeaders: CborMap, unprotected: CborMap): void {
  for (const label of protectedHeaders.keys())
    if (unprotected.has(label)) throw new CoseError(`the header ${nameOf(label)} is there twice`)
  if (unprotected.has(header.crit)) throw new CoseError('crit is in the unprotected header')
  const critical = protectedHeaders.get(header.crit)
  if (critical === undefined) return
  if (!Array.isArray(critical) || critical.length === 0) throw new CoseError('crit is not a list of headers')
  for (const label of critical)
    if (!understood.includes(label) || !protectedHeaders.has(label))
      throw new CoseError(`the critical header ${nameOf(label)} is not understood`)
}

function notBytes(member: string, value: CborValue): CoseError {
  return new CoseError(`the ${member} is ${nameOf(value)}, not a byte string`)
}

/** A value in an error, short. */
export function nameOf(value: CborValue): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 50))
  if (value instanceof Uint8Array) return 'a byte string'
  if (Array.isArray(value)) return 'an array'
  if (value instanceof Map) return 'a map'
  if (value instanceof Tagged) return `a value with tag ${value.tag}`
  return typeof value === 'object' && value !== null ? 'a value with tag 24' : String(value)
}

/**
 * What a signature or MAC covers (RFC 9052 §4.4, §6.3), without external data. A protected header without
 * members counts as empty.
 */
export function authenticatedBytes(
  context: 'Signature1' | 'MAC0',
  { protectedBytes, protected: headers }: Pick<CoseHeaders, 'protectedBytes' | 'protected'>,
  payload: Uint8Array,
): Uint8Array {
  const covered = headers.size === 0 ? new Uint8Array() : protectedBytes
  return encodeCbor([context, covered, new Uint8Array(), payload])
}

/** The payload of a message: its own, or else the detached one. Undefined if both or none are there. */
export function payloadOf(message: CoseHeaders, detached: Uint8Array | undefined): Uint8Array | undefined {
  if (message.payload !== null && detached !== undefined) return undefined
  return message.payload ?? detached
}
