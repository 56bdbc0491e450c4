/** What is left of secrets in the memory that short buffers share: nothing. Of texts something always is. */
import { expect, test } from 'vitest'
import { newSealKey, seal } from '../../src/base/seal.ts'
import { createDerivation } from '../../src/crypto/derive.ts'
import { agree, generateKey, sign, toPublic } from '../../src/crypto/keys.ts'

/** Whether bytes are in the memory that Node.js cuts short buffers from. */
function isInPool(bytes: Buffer): boolean {
  return Buffer.from(Buffer.from('x').buffer).includes(bytes)
}

/** Bytes of a text, outside of that memory. */
function apart(text: string, encoding: BufferEncoding): Buffer {
  const bytes = Buffer.alloc(Buffer.byteLength(text, encoding))
  return bytes.subarray(0, bytes.write(text, encoding))
}

test('a buffer that is forgotten as it is can be found there', () => {
  const text = 'a text that lies around'
  Buffer.from(text)
  expect(isInPool(apart(text, 'utf8'))).toBe(true)
})

test('a text that was sealed', () => {
  const text = 'a secret that was sealed'
  seal(newSealKey(), 'a row', text)
  expect(isInPool(apart(text, 'utf8'))).toBe(false)
})

test('a key that was made, or has signed', () => {
  const jwk = generateKey('secp256k1')
  sign(jwk, apart('data', 'utf8'))
  expect(isInPool(apart(jwk.d, 'base64url'))).toBe(false)
})

test('what two keys have agreed on', () => {
  const secret = agree(generateKey('X25519'), toPublic(generateKey('X25519')))
  expect(isInPool(Buffer.from(secret.buffer, secret.byteOffset, secret.length))).toBe(false)
})

test('a key that was derived', () => {
  const derivation = createDerivation(apart('05'.repeat(64), 'hex'))
  const { d } = derivation.key({ didIndex: 0, usage: 1, keyIndex: 0 })
  derivation.forget()
  expect(isInPool(apart(d, 'base64url'))).toBe(false)
})
