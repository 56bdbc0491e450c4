/**
 * From Diffie–Hellman secrets to the wrapped content key: ephemeral keys, Concat KDF (NIST SP 800-56A, RFC 7518 §4.6.2,
 * draft-madden-jose-ecdh-1pu-04 §2.3) and AES key wrap (RFC 3394), as wire.md 12.2 lays the bytes out.
 */
import {
  createCipheriv,
  createDecipheriv,
  diffieHellman,
  generateKeyPairSync,
  hash,
  type KeyObject,
} from 'node:crypto'
import { concat, utf8 } from '../base/bytes.ts'
import { publicObject } from '../crypto/key-objects.ts'
import { type PublicJwk, toPublic } from '../crypto/keys.ts'

/** Curves of key agreement. */
export const agreementCurves = ['X25519', 'P-256', 'P-384', 'P-521'] as const

/** A key pair for one message. */
export type Ephemeral = {
  publicJwk: PublicJwk
  /** The Diffie–Hellman secret with a key on the same curve. @throws for another curve, or a point that is not on it. */
  agree(theirs: PublicJwk): Uint8Array
}

/**
 * Makes a key pair for one message.
 *
 * The private half stays an OpenSSL object: it is written nowhere, reaches no cache, and saves a JWK import, a fifth of
 * the time an envelope takes. The public half is exported by the generator itself, because an export later on can
 * dead-lock Node 20 (see `crypto/keys.ts`); agreeing takes no such lock.
 *
 * @throws {TypeError} for a curve that is not one of key agreement.
 */
export function generateEphemeral(crv: string): Ephemeral {
  if (!(agreementCurves as readonly string[]).includes(crv))
    throw new TypeError(`${crv} is not a curve of key agreement`)
  // The casts are for the types alone: they lack the JWK encoding at generation, which Node has.
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

/** What a derived key is bound to. `apu` and `apv` are decoded bytes; `tag` is the content's, for ECDH-1PU with key wrapping. */
export type KeyContext = {
  algorithm: string
  apu: Uint8Array
  apv: Uint8Array
  bits?: number
  tag?: Uint8Array
}

/** The `OtherInfo` of Concat KDF, the same for every recipient of a message. */
export function otherInfo({ algorithm, apu, apv, bits = 256, tag }: KeyContext): Uint8Array {
  const parts = [utf8(algorithm), apu, apv]
  const info = Buffer.allocUnsafe(
    [...parts, ...(tag ? [tag] : [])].reduce((length, part) => length + 4 + part.length, 4),
  )
  let at = 0
  const put = (part: Uint8Array) => {
    info.set(part, info.writeUInt32BE(part.length, at))
    at += 4 + part.length
  }
  parts.forEach(put)
  at = info.writeUInt32BE(bits, at)
  if (tag) put(tag)
  return info
}

/** The number of the round, which there is but one of. */
const firstRound = Uint8Array.of(0, 0, 0, 1)

/** Concat KDF with SHA-256, one round. `secrets` are joined: Ze, or Ze and Zs for ECDH-1PU. Yields `bits` / 8 bytes, at most 32. */
export function concatKdf(secrets: Uint8Array[], info: Uint8Array, bits = 256): Uint8Array {
  const hashed = concat(firstRound, ...secrets, info)
  const key = hash('sha256', hashed, 'buffer')
  hashed.fill(0)
  return key.subarray(0, bits / 8)
}

/** RFC 3394 §2.2.3.1: the value every wrapped key starts from. */
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
