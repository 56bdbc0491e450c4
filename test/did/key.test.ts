import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fromBase64, toBase64url, toMultibase } from '../../src/foundation/bytes.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { agree, generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { keysFor, type Purpose, purposes } from '../../src/did/document.ts'
import { createJwkDid, resolveJwkDid } from '../../src/did/jwk.ts'
import { createKeyDid, resolveKeyDid } from '../../src/did/key.ts'

const isInvalid = (error: unknown) =>
  error instanceof Problem && error.type === 'error:DIDResolution:invalidDid'
const servedBy = (document: ReturnType<typeof resolveKeyDid>) =>
  purposes.filter((purpose: Purpose) => keysFor(document, purpose).length > 0)
const signing: Purpose[] = [
  'authentication',
  'assertionMethod',
  'capabilityInvocation',
  'capabilityDelegation',
]

describe('did:key', () => {
  // Examples of the did:key specification, and of the Peer DID specification for the derived key.
  test.each([
    [
      'z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH',
      { kty: 'OKP', crv: 'Ed25519', x: 'lJZrfAjkBXdfjebMHEUI9usidAPhAlssitLXR3OYxbI' },
    ],
    [
      'z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc',
      { kty: 'OKP', crv: 'X25519', x: 'BIiFcQEn3dfvB2pjlhOQQour6jXy9d5s2FKEJNTOJik' },
    ],
    [
      'zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme',
      {
        kty: 'EC',
        crv: 'secp256k1',
        x: 'h0wVx_2iDlOcblulc8E5iEw1EYh5n1RYtLQfeSTyNc0',
        y: 'O2EATIGbu6DezKFptj5scAIRntgfecanVNXxat1rnwE',
      },
    ],
    [
      'zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169',
      {
        kty: 'EC',
        crv: 'P-256',
        x: 'fyNYMN0976ci7xqiSdag3buk-ZCwgXU4kz9XNkBlNUI',
        y: 'hW2ojTNfH7Jbi8--CJUo3OCbH3y5n91g-IMA9MLMbTU',
      },
    ],
  ])('did:key:%s is its key', (text, publicKeyJwk) => {
    const did = `did:key:${text}`
    const document = resolveKeyDid(did)
    expect(document.verificationMethod![0]).toEqual({
      id: `${did}#${text}`,
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk,
    })
  })

  test('each curve serves its purposes', () => {
    expect(servedBy(resolveKeyDid(createKeyDid(generateKey('Ed25519'))))).toEqual(
      expect.arrayContaining([...signing, 'keyAgreement']),
    )
    expect(servedBy(resolveKeyDid(createKeyDid(generateKey('X25519'))))).toEqual(['keyAgreement'])
    expect(servedBy(resolveKeyDid(createKeyDid(generateKey('secp256k1'))))).toEqual(signing)
    expect(servedBy(resolveKeyDid('did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169'))).toHaveLength(
      5,
    )
  })

  test('the agreement key of an Ed25519 DID belongs to the same secret', () => {
    const key = generateKey('Ed25519')
    const derived = keysFor(resolveKeyDid(createKeyDid(key)), 'keyAgreement')[0]!.publicKeyJwk
    // RFC 8032 §5.1.5: the X25519 secret is the first half of the seed's SHA-512.
    const d = toBase64url(createHash('sha512').update(fromBase64(key.d)).digest().subarray(0, 32))
    const other = generateKey('X25519')
    expect(agree({ ...derived, d }, toPublic(other))).toEqual(agree(other, derived))
  })

  test.each([
    ['nothing', 'did:key:'],
    ['no multibase', 'did:key:6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH'],
    ['a fragment', 'did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH#x'],
    ['a key cut short', 'did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvk'],
    [
      'a BLS key',
      'did:key:zUC7LbYAQUjoTVSJyieL3cxpbdA1QjWdqqtFMDoMRg4qkZtQWRrrd4LLVCboCd5xbxET3gNM6ALinG57wBZo5VoQ3AokhE9qpJehX4SHdsDJUGa9u3z22PEGLd1fBwzzLhTkJmV',
    ],
    // No point of secp256k1 has 5 as its x.
    [
      'a point off its curve',
      `did:key:${toMultibase(Uint8Array.of(0xe7, 0x01, 2, ...Array<number>(31).fill(0), 5))}`,
    ],
  ])('%s is refused', (_name, did) => {
    expect(() => resolveKeyDid(did)).toThrow(expect.toSatisfy(isInvalid))
  })
})

describe('did:jwk', () => {
  // The example of the did:jwk specification.
  const example =
    'did:jwk:eyJjcnYiOiJQLTI1NiIsImt0eSI6IkVDIiwieCI6ImFjYklRaXVNczNpOF91c3pFakoydHBUdFJNNEVVM3l6OTFQSDZDZEgyVjAiLCJ5IjoiX0tjeUxqOXZXTXB0bm1LdG00NkdxRHo4d2Y3NEk1TEtncmwyR3pIM25TRSJ9'
  const encode = (jwk: object) => `did:jwk:${toBase64url(JSON.stringify(jwk))}`

  test('the example resolves to its key, for every purpose', () => {
    const document = resolveJwkDid(example)
    expect(document.verificationMethod).toEqual([
      {
        id: `${example}#0`,
        type: 'JsonWebKey2020',
        controller: example,
        publicKeyJwk: {
          crv: 'P-256',
          kty: 'EC',
          x: 'acbIQiuMs3i8_uszEjJ2tpTtRM4EU3yz91PH6CdH2V0',
          y: '_KcyLj9vWMptnmKtm46GqDz8wf74I5LKgrl2GzH3nSE',
        },
      },
    ])
    expect(servedBy(document)).toHaveLength(5)
  })

  test('a created DID contains only the public key', () => {
    const key = generateKey('Ed25519')
    const document = resolveJwkDid(createJwkDid(key))
    expect(keysFor(document, 'authentication').map(({ publicKeyJwk }) => publicKeyJwk)).toEqual([
      toPublic(key),
    ])
    expect(JSON.stringify(document)).not.toContain(key.d)
  })

  test('the use of the key limits its purposes', () => {
    const key = toPublic(generateKey('Ed25519'))
    expect(servedBy(resolveJwkDid(encode({ ...key, use: 'sig' })))).toEqual(signing)
    expect(servedBy(resolveJwkDid(encode({ ...key, use: 'enc' })))).toEqual([])
    expect(servedBy(resolveJwkDid(encode({ ...toPublic(generateKey('X25519')), use: 'enc' })))).toEqual([
      'keyAgreement',
    ])
  })

  test.each([
    ['a private key', () => encode(generateKey('Ed25519'))],
    ['an RSA key', () => encode({ kty: 'RSA', n: 'AQAB', e: 'AQAB' })],
    ['a point off its curve', () => encode({ ...toPublic(generateKey('secp256k1')), y: 'A'.repeat(43) })],
    ['no JSON', () => 'did:jwk:AAAA'],
    ['no base64url', () => 'did:jwk:e30='],
    ['a fragment', () => `${example}#0`],
    ['a text without end', () => `did:jwk:${'A'.repeat(3_000)}`],
  ])('%s is refused', (_name, make) => {
    expect(() => resolveJwkDid(make())).toThrow(expect.toSatisfy(isInvalid))
  })
})
