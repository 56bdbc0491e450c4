/** Key derivation and content encryption with the vectors of their RFCs. */
import { describe, expect, test } from 'vitest'
import { agree, generateKey, type PrivateJwk, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { contentCiphers, contentEncryptions } from '../../../src/exchange/didcomm/content.ts'
import { apvOf } from '../../../src/exchange/didcomm/jwe.ts'
import {
  agreementCurves,
  concatKdf,
  generateEphemeral,
  otherInfo,
  unwrapKey,
  wrapKey,
} from '../../../src/exchange/didcomm/kdf.ts'
import { readPublished } from '../../support/vectors.ts'
import { own, recipient } from './_people.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')
const fragmentOf = { X25519: 'x25519', 'P-256': 'p256', 'P-384': 'p384', 'P-521': 'p521' } as const

test('Concat KDF gives the key of RFC 7518 appendix C', () => {
  const z = Buffer.from([
    158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49, 110, 163, 218, 128,
    106, 72, 246, 218, 167, 121, 140, 254, 144, 196,
  ])
  const info = otherInfo({
    algorithm: 'A128GCM',
    apu: Buffer.from('Alice'),
    apv: Buffer.from('Bob'),
    bits: 128,
  })
  expect(Buffer.from(concatKdf([z], info, 128)).toString('base64url')).toBe('VqqN6vgjbSBcIijNcacQGg')
})

test('key wrap gives the ciphertext of RFC 3394 §4.6, and refuses another', () => {
  const [kek, key] = [
    hex('000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F'),
    hex('00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F'),
  ]
  const wrapped = hex('28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21')
  expect(Buffer.from(wrapKey(kek, key))).toEqual(wrapped)
  expect(Buffer.from(unwrapKey(kek, wrapped))).toEqual(key)
  wrapped[3]! ^= 1
  expect(() => unwrapKey(kek, wrapped)).toThrow()
})

test('A256CBC-HS512 gives the ciphertext of RFC 7518 B.3', () => {
  const key = hex(Array.from({ length: 64 }, (_, i) => i.toString(16).padStart(2, '0')).join(''))
  const iv = hex('1af38c2dc2b96ffdd86694092341bc04')
  const plaintext = Buffer.from(
    'A cipher system must not be required to be secret, and it must be able to fall into the hands of the enemy without inconvenience',
  )
  const aad = Buffer.from('The second principle of Auguste Kerckhoffs')
  const { ciphertext, tag } = contentCiphers['A256CBC-HS512'].seal(key, iv, plaintext, aad)
  expect(Buffer.from(ciphertext).subarray(0, 16)).toEqual(hex('4affaaadb78c31c5da4b1b590d10ffbd'))
  expect(Buffer.from(tag)).toEqual(hex('4dd3b4c088a7f45c216839645b2012bf2e6269a8c56a816dbc1b267761955bc5'))
})

test('XC20P gives the ciphertext of draft-irtf-cfrg-xchacha A.3.1', () => {
  const key = hex('808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f')
  const iv = hex('404142434445464748494a4b4c4d4e4f5051525354555657')
  const plaintext = Buffer.from(
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
  )
  const { ciphertext, tag } = contentCiphers.XC20P.seal(key, iv, plaintext, hex('50515253c0c1c2c3c4c5c6c7'))
  expect(Buffer.from(ciphertext).subarray(0, 16)).toEqual(hex('bd6d179d3e83d43b9576579493c0e939'))
  expect(Buffer.from(tag)).toEqual(hex('c0875924c1c7987947deafd8780acf49'))
})

describe.each(contentEncryptions)('%s', (name) => {
  const cipher = contentCiphers[name]
  const [key, iv, aad] = [
    Buffer.alloc(cipher.keyLength, 1),
    Buffer.alloc(cipher.ivLength, 2),
    Buffer.from('header'),
  ]

  test.each([0, 1, 15, 16, 17, 10_000])('decrypts %i bytes', (length) => {
    const plaintext = Buffer.alloc(length, 3)
    const { ciphertext, tag } = cipher.seal(key, iv, plaintext, aad)
    expect(tag.length).toBe(cipher.tagLength)
    expect(Buffer.from(cipher.open(key, iv, ciphertext, tag, aad))).toEqual(plaintext)
  })

  test('refuses any change', () => {
    const { ciphertext, tag } = cipher.seal(key, iv, Buffer.from('text'), aad)
    const flipped = (bytes: Uint8Array) => Uint8Array.from(bytes, (byte, i) => (i === 0 ? byte ^ 128 : byte))
    expect(() => cipher.open(flipped(key), iv, ciphertext, tag, aad)).toThrow()
    expect(() => cipher.open(key, flipped(iv), ciphertext, tag, aad)).toThrow()
    expect(() => cipher.open(key, iv, flipped(ciphertext), tag, aad)).toThrow()
    expect(() => cipher.open(key, iv, ciphertext, flipped(tag), aad)).toThrow()
    expect(() => cipher.open(key, iv, ciphertext, tag, flipped(aad))).toThrow()
    expect(() => cipher.open(key, iv, ciphertext, tag.subarray(0, 8), aad)).toThrow()
  })
})

describe.each(agreementCurves)('an ephemeral key on %s', (crv) => {
  test('agrees with a static one on both sides', () => {
    const ephemeral = generateEphemeral(crv)
    const theirs = own('ben', fragmentOf[crv]).privateJwk
    expect(Buffer.from(ephemeral.agree(toPublic(theirs)))).toEqual(
      Buffer.from(agree(theirs, ephemeral.publicJwk)),
    )
  })

  test('is different each time, and only its public part is exposed', () => {
    const { publicJwk } = generateEphemeral(crv)
    expect(publicJwk).not.toEqual(generateEphemeral(crv).publicJwk)
    expect(Object.keys(publicJwk)).toEqual(crv === 'X25519' ? ['kty', 'crv', 'x'] : ['kty', 'crv', 'x', 'y'])
  })

  test('refuses a key on another curve', () => {
    const other = crv === 'X25519' ? recipient('ben', 'p256').publicJwk : toPublic(generateKey('X25519'))
    expect(() => generateEphemeral(crv).agree(other)).toThrow(TypeError)
  })
})

test('apv is the hash of the sorted ids', () => {
  const apv = 'NcsuAnrRfPK69A-rkZ0L9XWUG4jMvNC3Zg74BPz53PA'
  const kids = [
    'did:example:bob#key-x25519-2',
    'did:example:bob#key-x25519-3',
    'did:example:bob#key-x25519-1',
  ]
  expect(Buffer.from(apvOf(kids)).toString('base64url')).toBe(apv)
})

describe('the vectors of draft-madden-jose-ecdh-1pu-04', () => {
  type Jwk = PrivateJwk
  type Vectors = [
    {
      header: { enc: string; apu: string; apv: string }
      sender: Jwk
      recipient: Jwk
      ephemeral: Jwk
      otherInfo: string
      derivedKey: string
    },
    {
      header: { alg: string; apu: string; apv: string }
      jwe: Record<'protected' | 'iv' | 'ciphertext' | 'tag', string>
      sender: Jwk
      ephemeral: Jwk
      cek: string
      plaintext: string
      recipients: { key: Jwk; kek: string }[]
    },
  ]
  const { vectors } = readPublished('jose-ecdh1pu') as { vectors: Vectors }
  const decoded = (text: string) => Buffer.from(text, 'base64url')

  test('appendix A derives the printed key', () => {
    const [{ header, sender, recipient: theirs, ephemeral, ...expected }] = vectors
    const info = otherInfo({ algorithm: header.enc, apu: decoded(header.apu), apv: decoded(header.apv) })
    expect(Buffer.from(info).toString('hex')).toBe(expected.otherInfo)
    const secrets = [agree(ephemeral, toPublic(theirs)), agree(sender, toPublic(theirs))]
    expect(Buffer.from(concatKdf(secrets, info)).toString('hex')).toBe(expected.derivedKey)
  })

  test('appendix B derives the printed wrapping keys and encrypts to the printed content', () => {
    const [, { header, jwe, sender, ephemeral, cek, plaintext, recipients }] = vectors
    const tag = decoded(jwe.tag)
    const info = otherInfo({
      algorithm: header.alg,
      apu: decoded(header.apu),
      apv: decoded(header.apv),
      bits: 128,
      tag,
    })
    expect(recipients).toHaveLength(2)
    for (const { key, kek } of recipients) {
      const secrets = [agree(key, toPublic(ephemeral)), agree(key, toPublic(sender))]
      expect(Buffer.from(concatKdf(secrets, info, 128)).toString('hex')).toBe(kek)
    }
    const made = contentCiphers['A256CBC-HS512'].seal(
      hex(cek),
      decoded(jwe.iv),
      Buffer.from(plaintext),
      Buffer.from(jwe.protected),
    )
    expect([Buffer.from(made.ciphertext), Buffer.from(made.tag)]).toEqual([decoded(jwe.ciphertext), tag])
  })
})
