/** Secrets do not remain in the pool from which Node.js allocates short buffers. */
import { expect, test } from 'vitest'
import { newSealKey, seal } from '../../../src/foundation/seal.ts'
import { createDerivation } from '../../../src/foundation/crypto/derive.ts'
import { agree, generateKey, sign, toPublic } from '../../../src/foundation/crypto/keys.ts'

/** True if bytes are in the pool of short buffers. */
function isInPool(bytes: Buffer): boolean {
  return Buffer.from(Buffer.from('x').buffer).includes(bytes)
}

/** The bytes of a text, outside of the pool. */
function apart(text: string, encoding: BufferEncoding): Buffer {
  const bytes = Buffer.alloc(Buffer.byteLength(text, encoding))
  return bytes.subarray(0, bytes.write(text, encoding))
}

test('a forgotten buffer is found in the pool', () => {
  const text = 'a text that lies around'
  Buffer.from(text)
  expect(isInPool(apart(text, 'utf8'))).toBe(true)
})

test('a sealed text is not', () => {
  const text = 'a secret that was sealed'
  seal(newSealKey(), 'a row', text)
  expect(isInPool(apart(text, 'utf8'))).toBe(false)
})

test('a generated key that has signed is not', () => {
  const jwk = generateKey('secp256k1')
  sign(jwk, apart('data', 'utf8'))
  expect(isInPool(apart(jwk.d, 'base64url'))).toBe(false)
})

test('a shared secret is not', () => {
  const secret = agree(generateKey('X25519'), toPublic(generateKey('X25519')))
  expect(isInPool(Buffer.from(secret.buffer, secret.byteOffset, secret.length))).toBe(false)
})

test('a derived key is not', () => {
  const derivation = createDerivation(apart('05'.repeat(64), 'hex'))
  const { d } = derivation.key({ didIndex: 0, usage: 1, keyIndex: 0 })
  derivation.forget()
  expect(isInPool(apart(d, 'base64url'))).toBe(false)
})
