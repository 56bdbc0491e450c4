/**
 * Key agreement and key wrapping of JWE: ephemeral keys, Concat KDF (NIST SP 800-56A §5.8.1, RFC 7518 §4.6.2,
 * draft-madden-jose-ecdh-1pu-04 §2.3) and AES key wrap (RFC 3394).
 */
import {
  createCipheriv,
  createDecipheriv,
  diffieHellman,
  generateKeyPairSync,
  hash,
  type KeyObject,
} from 'node:crypto'
import { concat, utf8 } from '../../foundation/bytes.ts'
import { publicObject } from '../../foundation/crypto/key-objects.ts'
import { type PublicJwk, toPublic } from '../../foundation/crypto/keys.ts'

export const agreementCurves = ['X25519', 'P-256', 'P-384', 'P-521'] as const

/** The ephemeral key pair of one message. */
export type Ephemeral = {
  publicJwk: PublicJwk
  /** The Diffie–Hellman secret. @throws for a key on another curve, or a point that is not on the curve */
  agree(theirs: PublicJwk): Uint8Array
}

/**
 * Generates an ephemeral key pair.
 *
 * The private key stays an OpenSSL object: it is in no cache, and importing a JWK would take a fifth of the
 * time of an envelope. The generator exports the public key itself, because a later export can deadlock Node
 * 20 (see `crypto/keys.ts`).
 *
 * @throws {TypeError} for a curve without key agreement.
 */
export function generateEphemeral(crv: string): Ephemeral {
  if (!(agreementCurves as readonly string[]).includes(crv))
    throw new TypeError(`${crv} is not a curve of key agreement`)
  // Casts: the types lack the JWK encoding of the generator.
  const options = { namedCurve: crv, publicKeyEncoding: { format: 'jwk' } } as never
  const made: unknown =
    crv === 'X25519' ? generateKeyPairSync('x25519', options) : generateKeyPairSync('ec', options)
  const { publicKey, privateKey } = made as { publicKey: PublicJwk; privateKey: KeyObject }
  return {
    publicJwk: toPublic(publicKey),
    agree(theirs) {
      if (theirs.crv !== crv) throw new TypeError(`cannot agree between ${crv} and ${theirs.crv}`)
      return diffieHellman({ privateKey, publicKey: publicObject(theirs) })
    },
  }
}

/** `apu` and `apv` are decoded. `tag` is the tag of the content, for ECDH-1PU with key wrapping. */
export type KeyContext = {
  algorithm: string
  apu: Uint8Array
  apv: Uint8Array
  bits?: number
  tag?: Uint8Array
}

/** The `OtherInfo` of Concat KDF (RFC 7518 §4.6.2), the same for every recipient of a message. */
export function otherInfo({ algorithm, apu, apv, bits = 256, tag }: KeyContext): Uint8Array {
  const suppPubInfo = Buffer.alloc(4)
  suppPubInfo.writeUInt32BE(bits)
  const parts = [utf8(algorithm), apu, apv].flatMap(withLength)
  return concat(...parts, suppPubInfo, ...(tag ? withLength(tag) : []))
}

/** A part of `OtherInfo`: its length in four bytes, and the bytes. */
function withLength(part: Uint8Array): Uint8Array[] {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(part.length)
  return [length, part]
}

/** The counter of the only round. */
const firstRound = Uint8Array.of(0, 0, 0, 1)

/**
 * One round of Concat KDF with SHA-256. `secrets` are concatenated: Ze, or Ze and Zs for ECDH-1PU. Returns
 * `bits` / 8 bytes, at most 32.
 */
export function concatKdf(secrets: Uint8Array[], info: Uint8Array, bits = 256): Uint8Array {
  const hashed = concat(firstRound, ...secrets, info)
  const key = hash('sha256', hashed, 'buffer')
  hashed.fill(0)
  return key.subarray(0, bits / 8)
}

/** The initial value of RFC 3394 §2.2.3.1. */
const initialValue = Buffer.alloc(8, 0xa6)

/** Wraps a content key with a 32-byte key (A256KW). */
export function wrapKey(wrappingKey: Uint8Array, key: Uint8Array): Uint8Array {
  const cipher = createCipheriv('id-aes256-wrap', wrappingKey, initialValue)
  return concat(cipher.update(key), cipher.final())
}

/** Unwraps a content key. @throws when it was not wrapped with this key. */
export function unwrapKey(wrappingKey: Uint8Array, wrapped: Uint8Array): Uint8Array {
  const decipher = createDecipheriv('id-aes256-wrap', wrappingKey, initialValue)
  return concat(decipher.update(wrapped), decipher.final())
}
