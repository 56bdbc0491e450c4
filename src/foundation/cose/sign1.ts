/** COSE_Sign1: a payload with one signature (RFC 9052 §4.2). */
import { KeyObject, sign as signBytes, verify as verifyBytes } from 'node:crypto'
import { type CborMap, type CborValue, encodeCbor } from '../cbor/index.ts'
import { privateObject, publicObject } from '../crypto/key-objects.ts'
import type { Curve, PrivateJwk, PublicJwk } from '../crypto/keys.ts'
import { algorithmOf, algorithmOfKey, type CoseAlgorithm, pairing } from './algorithms.ts'
import {
  authenticatedBytes,
  CoseError,
  type CoseHeaders,
  header,
  payloadOf,
  readMessage,
  type ReadOptions,
} from './message.ts'

export type CoseSign1 = CoseHeaders & { signature: Uint8Array }

export const sign1Tag = 18

/** Reads a COSE_Sign1, which is not verified. @throws {CoseError} */
export function readSign1(value: CborValue, options: ReadOptions = {}): CoseSign1 {
  const { authenticator, ...headers } = readMessage(value, sign1Tag, options)
  return { ...headers, signature: authenticator }
}

/** The bytes that a signature covers: the Sig_structure of RFC 9052 §4.4. */
export function signatureInput(
  headers: Pick<CoseHeaders, 'protectedBytes' | 'protected'>,
  payload: Uint8Array,
): Uint8Array {
  return authenticatedBytes('Signature1', headers, payload)
}

/**
 * Verifies a signature. False for any that is not valid: of an algorithm that is not supported or does not go
 * with the key, of another length, or without a payload. A payload must be in the message or be given, not
 * both.
 *
 * The key object of a JWK is cached. Give that of a key that is used once.
 */
export function verifySign1(
  sign1: CoseSign1,
  key: KeyObject | PublicJwk,
  detachedPayload?: Uint8Array,
): boolean {
  try {
    const payload = payloadOf(sign1, detachedPayload)
    const algorithm = algorithmOf(sign1)
    const crv = key instanceof KeyObject ? curveOf(key) : key.crv
    if (payload === undefined || pairing(algorithm, crv) === 'wrong') return false
    if (sign1.signature.length !== signatureLengths[crv]) return false
    const object = key instanceof KeyObject ? key : publicObject(key)
    return verifyBytes(algorithm.hash, signatureInput(sign1, payload), toOptions(object), sign1.signature)
  } catch {
    return false
  }
}

/** Of r ‖ s, or of EdDSA, in bytes. */
const signatureLengths: Readonly<Partial<Record<Curve, number>>> = {
  'P-256': 64,
  'P-384': 96,
  'P-521': 132,
  Ed25519: 64,
}

const curves: Readonly<Record<string, Curve>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
  ed25519: 'Ed25519',
}

function curveOf({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): Curve {
  const name = asymmetricKeyDetails?.namedCurve ?? type ?? ''
  const curve = curves[name]
  if (!curve) throw new CoseError(`a key on ${name} is not supported`)
  return curve
}

function toOptions(key: KeyObject): { key: KeyObject; dsaEncoding: 'ieee-p1363' } {
  return { key, dsaEncoding: 'ieee-p1363' }
}

export type Signing = {
  key: PrivateJwk
  /** By default the first one of the key's curve, such as −7 for P-256. */
  alg?: CoseAlgorithm
  /** Headers beside `alg`. */
  protected?: CborMap
  unprotected?: CborMap
  payload: Uint8Array
  /** Whether the payload stands elsewhere, and null in the message. */
  detached?: boolean
}

/**
 * Signs a payload. The result is the array, without its tag.
 *
 * @throws {CoseError} for a key that does not sign here, or with the algorithm
 */
export function signSign1({
  key,
  alg = algorithmOfKey(key),
  protected: extra = new Map(),
  unprotected = new Map(),
  payload,
  detached = false,
}: Signing): CborValue[] {
  if (pairing(alg, key.crv) !== 'usual') throw new CoseError(`a key on ${key.crv} does not sign ${alg.name}`)
  const headers: CborMap = new Map([[header.alg, alg.id], ...extra])
  const protectedBytes = encodeCbor(headers)
  const input = signatureInput({ protectedBytes, protected: headers }, payload)
  const signature = signBytes(alg.hash, input, toOptions(privateObject(key)))
  return [protectedBytes, unprotected, detached ? null : payload, signature]
}
