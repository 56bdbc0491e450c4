/** Keys of others: which of a set are used. */
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { toKeySet } from '../../../src/foundation/crypto/key-set.ts'
import { chooseKey } from '../../../src/foundation/oauth/encryption-choice.ts'

const rsa = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' })
const neutral = toBase64url(Uint8Array.from([1, ...new Uint8Array(31)]))
const p256 = toPublic(generateKey('P-256'))
const ed25519 = toPublic(generateKey('Ed25519'))

test.each<[string, unknown]>([
  ['a short RSA key', rsa(1_024)],
  ['a point off the curve', { ...p256, y: p256.x }],
  ['a key without a coordinate', { ...p256, y: undefined }],
  ['coordinates that are not text', { ...p256, x: 1, y: 2 }],
  ['a key of small order', { kty: 'OKP', crv: 'Ed25519', x: neutral }],
  ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0' }],
  ['a private key', generateKey('P-256')],
  ['a key of an unknown type', { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA' }],
  ['a key without a type', { x: 'AA' }],
  ['null', null],
])('%s does not disable the other keys of its set', (_, key) => {
  const good = [p256, ed25519, rsa(2_048)]
  expect(toKeySet({ keys: [key, ...good] })).toEqual({ keys: good })
})

test('nothing is encrypted to a key of small order', () => {
  const low = { kty: 'OKP', crv: 'X25519', x: neutral, alg: 'ECDH-ES' }
  const good = { ...toPublic(generateKey('X25519')), alg: 'ECDH-ES' }
  expect(chooseKey([low, good])).toEqual(good)
})
