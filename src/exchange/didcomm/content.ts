/**
 * Content encryption of JWE: A256CBC-HS512 and A256GCM (RFC 7518 §5.2.5, §5.3), XC20P
 * (draft-amringer-jose-chacha-02). OpenSSL does the work, except for HChaCha20 (@noble/ciphers).
 */
import {
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
  createHmac,
  timingSafeEqual,
} from 'node:crypto'
import { hchacha } from '@noble/ciphers/chacha.js'
import { concat, utf8 } from '../../foundation/bytes.ts'

export const contentEncryptions = ['A256CBC-HS512', 'A256GCM', 'XC20P'] as const
export type ContentEncryption = (typeof contentEncryptions)[number]

/** A content encryption. Lengths are in bytes. */
export type ContentCipher = {
  keyLength: number
  ivLength: number
  tagLength: number
  seal(
    key: Uint8Array,
    iv: Uint8Array,
    plaintext: Uint8Array,
    aad: Uint8Array,
  ): { ciphertext: Uint8Array; tag: Uint8Array }
  /** @throws when the tag does not match. */
  open(key: Uint8Array, iv: Uint8Array, ciphertext: Uint8Array, tag: Uint8Array, aad: Uint8Array): Uint8Array
}

const cbcHs512: ContentCipher = {
  keyLength: 64,
  ivLength: 16,
  tagLength: 32,
  seal(key, iv, plaintext, aad) {
    const cipher = createCipheriv('aes-256-cbc', key.subarray(32), iv)
    const ciphertext = concat(cipher.update(plaintext), cipher.final())
    return { ciphertext, tag: cbcTag(key, iv, ciphertext, aad) }
  },
  open(key, iv, ciphertext, tag, aad) {
    // Check the tag before decrypting, so that padding errors leak nothing.
    if (!timingSafeEqual(cbcTag(key, iv, ciphertext, aad), tag)) throw new TypeError('the tag does not match')
    const decipher = createDecipheriv('aes-256-cbc', key.subarray(32), iv)
    return concat(decipher.update(ciphertext), decipher.final())
  },
}

function cbcTag(key: Uint8Array, iv: Uint8Array, ciphertext: Uint8Array, aad: Uint8Array): Uint8Array {
  const bits = Buffer.alloc(8)
  // AL, the number of bits in 64 bits (RFC 7518 §5.2.2.1). A header is short enough for the lower 32.
  bits.writeUInt32BE(aad.length * 8, 4)
  const mac = createHmac('sha512', key.subarray(0, 32)).update(aad).update(iv).update(ciphertext).update(bits)
  return mac.digest().subarray(0, 32)
}

/** An AEAD with a 12-byte nonce and a 16-byte tag. */
const aead = (name: CipherGCMTypes): ContentCipher => ({
  keyLength: 32,
  ivLength: 12,
  tagLength: 16,
  seal(key, iv, plaintext, aad) {
    const cipher = createCipheriv(name, key, iv, { authTagLength: 16 })
    cipher.setAAD(aad)
    const ciphertext = concat(cipher.update(plaintext), cipher.final())
    return { ciphertext, tag: cipher.getAuthTag() }
  },
  open(key, iv, ciphertext, tag, aad) {
    const decipher = createDecipheriv(name, key, iv, { authTagLength: 16 })
    decipher.setAAD(aad)
    decipher.setAuthTag(tag)
    return concat(decipher.update(ciphertext), decipher.final())
  },
})

// The types allow GCM names only; options and methods are the same.
const chacha20 = aead('chacha20-poly1305' as CipherGCMTypes)

/** XChaCha20-Poly1305: the first 16 bytes of the nonce derive a subkey, the other 8 are the nonce for it. */
const xc20p: ContentCipher = {
  keyLength: 32,
  ivLength: 24,
  tagLength: 16,
  seal: (key, iv, plaintext, aad) => chacha20.seal(subkey(key, iv), shortNonce(iv), plaintext, aad),
  open: (key, iv, ciphertext, tag, aad) =>
    chacha20.open(subkey(key, iv), shortNonce(iv), ciphertext, tag, aad),
}

const sigma = words(utf8('expand 32-byte k'))

function subkey(key: Uint8Array, iv: Uint8Array): Uint8Array {
  const out = new Uint32Array(8)
  hchacha(sigma, words(key), words(iv.subarray(0, 16)), out)
  return new Uint8Array(out.buffer)
}

function shortNonce(iv: Uint8Array): Uint8Array {
  return concat(new Uint8Array(4), iv.subarray(16))
}

/** The bytes as 32-bit words. Copied, because the original may not be aligned. */
function words(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(Uint8Array.from(bytes).buffer)
}

/** Content encryptions by their JOSE name (`enc`). */
export const contentCiphers: Readonly<Record<ContentEncryption, ContentCipher>> = {
  'A256CBC-HS512': cbcHs512,
  A256GCM: aead('aes-256-gcm'),
  XC20P: xc20p,
}
