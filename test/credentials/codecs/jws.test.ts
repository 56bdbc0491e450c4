import { createPublicKey, sign as signBytes, verify as verifyBytes } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { compactVerify, CompactSign, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { fromBase64, utf8 } from '../../../src/foundation/bytes.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { decodeJws, isSignedBy, maxTokenLength, signJws } from '../../../src/credentials/codecs/jws.ts'
import { character } from '../../support/character.ts'
import { failureOf, forge, issuer, partsOf } from './_people.ts'

const ed25519 = issuer.keys['issue-2'].jwk
const es256k = issuer.keys['issue-1'].jwk

describe('signJws', () => {
  test.each([ed25519, es256k])('writes a token that decodeJws and its own key accept: $crv', (key) => {
    const token = signJws({ typ: 'JWT', kid: 'k' }, { claim: 'ü' }, key)
    const jws = decodeJws(token)
    expect(jws.header).toEqual({ typ: 'JWT', alg: key === ed25519 ? 'EdDSA' : 'ES256K', kid: 'k' })
    expect(jws.payload).toEqual({ claim: 'ü' })
    expect(isSignedBy(jws, toPublic(key))).toBe(true)
  })

  test('writes typ, alg, kid in this order and no member that is not given', () => {
    expect(
      Buffer.from(partsOf(signJws({ kid: 'k', typ: 'JWT' }, {}, es256k))[0], 'base64url').toString(),
    ).toBe('{"typ":"JWT","alg":"ES256K","kid":"k"}')
    expect(Buffer.from(partsOf(signJws({}, {}, ed25519))[0], 'base64url').toString()).toBe('{"alg":"EdDSA"}')
  })

  test('writes EdDSA tokens that jose verifies', async () => {
    const { payload, protectedHeader } = await compactVerify(
      signJws({ typ: 'JWT' }, { a: 1 }, ed25519),
      await importJWK(toPublic(ed25519), 'EdDSA'),
    )
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual({ a: 1 })
    expect(protectedHeader.alg).toBe('EdDSA')
  })

  test('writes ES256K tokens that OpenSSL and noble verify, as 64 bytes with low s', () => {
    const [header, payload, signature] = partsOf(signJws({}, { a: 1 }, es256k))
    const bytes = fromBase64(signature)
    const input = utf8(`${header}.${payload}`)
    const key = createPublicKey({ key: toPublic(es256k), format: 'jwk' })
    expect(verifyBytes('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true)
    const point = Buffer.concat([Buffer.of(4), fromBase64(es256k.x), fromBase64(es256k.y!)])
    expect(secp256k1.verify(bytes, input, point, { lowS: true })).toBe(true)
  })
})

describe('decodeJws', () => {
  test('a cached header is equal to the decoded one, and frozen', () => {
    const key = generateKey('Ed25519')
    for (const kid of ['#a', '#b', '#a', `#${'c'.repeat(600)}`]) {
      const { header } = decodeJws(signJws({ typ: 'JWT', kid }, { n: kid }, key))
      expect(header).toEqual({ typ: 'JWT', alg: 'EdDSA', kid })
      expect(Object.isFrozen(header)).toBe(true)
    }
  })

  test('takes EdDSA tokens of jose', async () => {
    const token = await new CompactSign(utf8('{"a":1}'))
      .setProtectedHeader({ alg: 'EdDSA' })
      .sign(await importJWK(ed25519, 'EdDSA'))
    expect(isSignedBy(decodeJws(token), toPublic(ed25519))).toBe(true)
  })

  test('takes ES256K tokens of noble with high s, which peers may send', () => {
    const token = forge({ alg: 'ES256K' }, { a: 1 }, (input) => {
      const low = secp256k1.Signature.fromBytes(secp256k1.sign(input, fromBase64(es256k.d), { lowS: true }))
      return new secp256k1.Signature(low.r, secp256k1.Point.Fn.neg(low.s)).toBytes('compact')
    })
    expect(isSignedBy(decodeJws(token), toPublic(es256k))).toBe(true)
  })

  test('keeps nothing of a header that could bring a key along, but certificates, which need a trusted root', () => {
    const carried = {
      jwk: toPublic(ed25519),
      jku: 'https://evil.example',
      x5u: 'https://evil.example',
      x5c: ['AA=='],
      extra: 1,
    }
    expect(decodeJws(forge({ alg: 'EdDSA', ...carried }, {}, ed25519)).header).toEqual({
      alg: 'EdDSA',
      x5c: ['AA=='],
    })
  })

  test('keeps claims called __proto__ and constructor as own members and changes no prototype', () => {
    const { payload } = decodeJws(
      forge({ alg: 'EdDSA' }, '{"__proto__":{"admin":true},"constructor":1}', ed25519),
    )
    expect(Object.keys(payload)).toEqual(['__proto__', 'constructor'])
    expect(payload.admin).toBeUndefined()
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  test('does not read alg out of a __proto__ member', async () => {
    expect(await failureOf(() => decodeJws(forge('{"__proto__":{"alg":"EdDSA"}}', {}, ed25519)))).toBe(
      'algorithm',
    )
  })

  test.each(['none', 'HS256', 'ES384', 'eddsa', '', 1, null, undefined])(
    'refuses alg %s by itself, before any key is looked for',
    async (alg) => {
      expect(await failureOf(() => decodeJws(forge({ alg }, {}, ed25519)))).toBe('algorithm')
    },
  )

  test.each(['[]', '[{"alg":"EdDSA"}]', 'null', '1', '"text"', 'true'])(
    'refuses %s as header and as payload',
    async (part) => {
      expect(await failureOf(() => decodeJws(forge(part, {}, ed25519)))).toBe('malformed')
      expect(await failureOf(() => decodeJws(forge({ alg: 'EdDSA' }, part, ed25519)))).toBe('malformed')
    },
  )

  test('takes a token at the limit of length and refuses one character more', async () => {
    const [header, , signature] = partsOf(signJws({}, {}, ed25519))
    const room = maxTokenLength - header.length - signature.length - 2
    const filled = (length: number) =>
      `${header}.${Buffer.from(JSON.stringify({ a: 'x'.repeat(length) })).toString('base64url')}.${signature}`
    const longest = Math.floor((room * 3) / 4) - 8
    expect(decodeJws(filled(longest)).payload.a).toHaveLength(longest)
    expect(filled(longest).length).toBe(maxTokenLength)
    expect(await failureOf(() => decodeJws(`${filled(longest)}A`))).toBe('too-large')
  })

  test('never throws anything but a VerificationError, whatever the text', async () => {
    const text = fc.oneof(
      fc.string({ unit: character }),
      fc.tuple(fc.string(), fc.string(), fc.string()).map((parts) => parts.join('.')),
      fc
        .tuple(fc.json(), fc.json(), fc.uint8Array())
        .map((parts) => parts.map((part) => Buffer.from(part as string).toString('base64url')).join('.')),
    )
    await fc.assert(
      fc.asyncProperty(text, async (token) => {
        expect(await failureOf(() => decodeJws(token))).toBeTypeOf('string')
      }),
      { seed: 1, numRuns: 1_000 },
    )
  })
})

describe('isSignedBy', () => {
  const tokens = [ed25519, es256k].map(
    (key) => [key.crv, signJws({ typ: 'JWT' }, { claim: 'text', list: [1, 2] }, key), toPublic(key)] as const,
  )

  test.each(tokens)('is false or refused for every change of one bit of a token: %s', (_, token, key) => {
    const bytes = Buffer.from(token)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(accepts(changed.toString('latin1'), key), `bit ${bit}`).toBe(false)
    }
  })

  test.each(tokens)('is false for every change of one bit of the decoded parts: %s', (_, token, key) => {
    const parts = token.split('.').map((part) => Buffer.from(part, 'base64url'))
    const places = fc
      .nat({ max: 2 })
      .chain((part) => fc.tuple(fc.constant(part), fc.nat({ max: parts[part]!.length * 8 - 1 })))
    fc.assert(
      fc.property(places, ([part, bit]) => {
        const changed = parts.map((each) => Buffer.from(each))
        changed[part]![bit >> 3]! ^= 1 << (bit & 7)
        expect(accepts(changed.map((each) => each.toString('base64url')).join('.'), key)).toBe(false)
      }),
      { seed: 2, numRuns: 1_000 },
    )
  })

  test('is false for the same bytes signed with another curve or a key that does not sign', () => {
    const jws = decodeJws(forge({ alg: 'ES256K' }, {}, ed25519))
    expect(isSignedBy(jws, toPublic(ed25519))).toBe(false)
    expect(isSignedBy(jws, toPublic(generateKey('X25519')))).toBe(false)
    expect(isSignedBy(jws, { kty: 'EC', crv: 'secp256k1', x: 'AA' })).toBe(false)
  })

  test('is false for ES256K in DER, the default of OpenSSL', () => {
    const token = forge({ alg: 'ES256K' }, {}, (input) =>
      signBytes('sha256', input, { key: es256k, format: 'jwk' } as never),
    )
    expect(isSignedBy(decodeJws(token), toPublic(es256k))).toBe(false)
  })

  function accepts(token: string, key: Parameters<typeof isSignedBy>[1]): boolean {
    try {
      return isSignedBy(decodeJws(token), key)
    } catch {
      return false
    }
  }
})
