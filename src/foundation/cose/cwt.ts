/** CBOR Web Tokens (RFC 8392): claims in a signed message. */
import {
  CborError,
  type CborLimits,
  type CborMap,
  type CborValue,
  decodeCbor,
  encodeCbor,
  Tagged,
} from '../cbor/index.ts'
import { CoseError, type ReadOptions } from './message.ts'
import { type CoseSign1, readSign1, type Signing, signSign1, sign1Tag } from './sign1.ts'

/** Registered claims (RFC 8392 §4). */
export const claim = { iss: 1, sub: 2, aud: 3, exp: 4, nbf: 5, iat: 6, cti: 7 } as const

const cwtTag = 61

/**
 * Reads a token, which is not verified. It has tag 18; none, or tag 61 before it, is accepted with a warning.
 * `limits` are those of the claims.
 *
 * @throws {CoseError}
 */
export function readCwt(
  bytes: Uint8Array,
  { warn, limits }: Pick<ReadOptions, 'warn'> & { limits?: Partial<CborLimits> } = {},
): { sign1: CoseSign1; claims: CborMap } {
  const token = decodePart(bytes, 'the token')
  const isCwtTagged = token instanceof Tagged && token.tag === cwtTag
  if (isCwtTagged) warn?.('cwt-tag')
  const message = isCwtTagged ? token.value : token
  if (!(message instanceof Tagged)) warn?.('untagged')
  const sign1 = readSign1(message, { isTagAllowed: true, ...(warn && { warn }) })
  if (sign1.payload === null) throw new CoseError('the token has no claims')
  const claims = decodePart(sign1.payload, 'the claims', limits)
  if (!(claims instanceof Map)) throw new CoseError('the claims are not a map')
  return { sign1, claims }
}

function decodePart(bytes: Uint8Array, name: string, limits?: Partial<CborLimits>): CborValue {
  try {
    return decodeCbor(bytes, limits)
  } catch (cause) {
    if (!(cause instanceof CborError)) throw cause
    throw new CoseError(`${name}: ${cause.message}`, { cause })
  }
}

/** Signs claims, with tag 18. @throws {CoseError} */
export function signCwt(claims: CborMap, signing: Omit<Signing, 'payload' | 'detached'>): Uint8Array {
  return encodeCbor(new Tagged(sign1Tag, signSign1({ ...signing, payload: encodeCbor(claims) })))
}
