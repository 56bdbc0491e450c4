import { describe, expect, test } from 'vitest'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { readKey } from '../../src/did/verification-key.ts'
import { createKeyDid } from '../../src/did/key.ts'

const method = (type: string, key: object) => ({
  id: 'did:web:a.example#key-1',
  type,
  controller: 'did:web:a.example',
  ...key,
})

// The same keys in several forms, from the did:key specification and the security vocabulary.
const ed25519 = { kty: 'OKP', crv: 'Ed25519', x: 'lJZrfAjkBXdfjebMHEUI9usidAPhAlssitLXR3OYxbI' }
const x25519 = { kty: 'OKP', crv: 'X25519', x: 'BIiFcQEn3dfvB2pjlhOQQour6jXy9d5s2FKEJNTOJik' }
const secp256k1 = {
  kty: 'EC',
  crv: 'secp256k1',
  x: 'h0wVx_2iDlOcblulc8E5iEw1EYh5n1RYtLQfeSTyNc0',
  y: 'O2EATIGbu6DezKFptj5scAIRntgfecanVNXxat1rnwE',
}
const p256 = {
  kty: 'EC',
  crv: 'P-256',
  x: 'fyNYMN0976ci7xqiSdag3buk-ZCwgXU4kz9XNkBlNUI',
  y: 'hW2ojTNfH7Jbi8--CJUo3OCbH3y5n91g-IMA9MLMbTU',
}
const hex = (text: string) => Buffer.from(text, 'base64url').toString('hex')

describe('a public key is read', () => {
  test.each([
    ['JsonWebKey2020', { publicKeyJwk: p256 }, p256],
    ['JsonWebKey2020', { publicKeyJwk: { ...ed25519, kid: 'k', alg: 'EdDSA' } }, ed25519],
    ['JsonWebKey', { publicKeyJwk: x25519 }, x25519],
    ['EcdsaSecp256k1VerificationKey2019', { publicKeyJwk: secp256k1 }, secp256k1],
    ['Multikey', { publicKeyMultibase: 'z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH' }, ed25519],
    ['Multikey', { publicKeyMultibase: 'z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc' }, x25519],
    ['Multikey', { publicKeyMultibase: 'zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme' }, secp256k1],
    ['Multikey', { publicKeyMultibase: 'zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169' }, p256],
    [
      'Ed25519VerificationKey2020',
      { publicKeyMultibase: 'z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH' },
      ed25519,
    ],
    [
      'X25519KeyAgreementKey2020',
      { publicKeyMultibase: 'z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc' },
      x25519,
    ],
    [
      'EcdsaSecp256k1VerificationKey2019',
      { publicKeyMultibase: 'zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme' },
      secp256k1,
    ],
    [
      'Ed25519VerificationKey2018',
      { publicKeyBase58: 'B12NYF8RrR3h41TDCTJojY59usg3mbtbjnFs7Eud1Y6u' },
      ed25519,
    ],
    ['X25519KeyAgreementKey2019', { publicKeyBase58: 'JhNWeSVLMYccCk7iopQW4guaSJTojqpMEELgSLhKwRr' }, x25519],
    [
      'EcdsaSecp256k1VerificationKey2019',
      { publicKeyBase58: '23o6Sau8NxxzXcgSc3PLcNxrzrZpbLeBn1izfv3jbKhuv' },
      secp256k1,
    ],
    ['EcdsaSecp256k1VerificationKey2019', { publicKeyHex: `03${hex(secp256k1.x)}` }, secp256k1],
    [
      'EcdsaSecp256k1VerificationKey2019',
      { publicKeyHex: `04${hex(secp256k1.x)}${hex(secp256k1.y)}` },
      secp256k1,
    ],
  ])('from a %s with %j', (type, key, expected) => {
    expect(readKey(method(type, key))).toMatchObject(expected)
  })

  test.each([
    ['JsonWebKey2020', {}],
    ['JsonWebKey2020', { publicKeyJwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB' } }],
    ['JsonWebKey2020', { publicKeyJwk: { ...ed25519, kty: 'EC' } }],
    ['JsonWebKey2020', { publicKeyJwk: { ...p256, y: undefined } }],
    ['JsonWebKey2020', { publicKeyJwk: { ...ed25519, crv: 'constructor' } }],
    ['Ed25519VerificationKey2020', { publicKeyJwk: secp256k1 }],
    [
      'Ed25519VerificationKey2020',
      { publicKeyMultibase: 'z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc' },
    ],
    ['Ed25519VerificationKey2020', { publicKeyMultibase: 'z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvk' }],
    ['Multikey', { publicKeyMultibase: 'B12NYF8RrR3h41TDCTJojY59usg3mbtbjnFs7Eud1Y6u' }],
    ['Multikey', { publicKeyMultibase: 7 }],
    ['Multikey', { publicKeyBase58: 'B12NYF8RrR3h41TDCTJojY59usg3mbtbjnFs7Eud1Y6u' }],
    ['Ed25519VerificationKey2018', { publicKeyBase58: 'z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH' }],
    ['Ed25519VerificationKey2018', { publicKeyBase58: '1'.repeat(100_000) }],
    ['EcdsaSecp256k1VerificationKey2019', { publicKeyHex: '02' + '0'.repeat(63) + '5' }],
    ['EcdsaSecp256k1VerificationKey2019', { publicKeyHex: 'no hex' }],
    ['EcdsaSecp256k1VerificationKey2019', { publicKeyHex: `06${hex(secp256k1.x)}${hex(secp256k1.y)}` }],
    ['EcdsaSecp256r1VerificationKey2019', { publicKeyHex: `03${hex(p256.x)}` }],
    ['constructor', { publicKeyBase58: 'B12NYF8RrR3h41TDCTJojY59usg3mbtbjnFs7Eud1Y6u' }],
  ])('from no %s with %j', (type, key) => {
    expect(readKey(method(type, key))).toBeUndefined()
  })

  test('equals the key of its did:key', () => {
    const key = toPublic(generateKey('secp256k1'))
    expect(
      readKey(method('Multikey', { publicKeyMultibase: createKeyDid(key).slice('did:key:'.length) })),
    ).toEqual(key)
  })
})
