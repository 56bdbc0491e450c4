/** The protected header of an envelope: algorithms, duplicate members, and invalid ephemeral keys. */
import { describe, expect, test } from 'vitest'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { unpack } from '../../../src/exchange/didcomm/unpack.ts'
import { anonymous, edited, forged } from './_forge.ts'
import { as, newMessage, own, recipient } from './_people.ts'
import { refuses } from './_refusal.ts'

describe('the protected header', () => {
  test('is accepted with unknown members', async () => {
    expect(await unpack(forged({ header: { cty: 'x', nonsense: { a: [1] } } }), as('ben'))).toMatchObject({
      authenticated: true,
    })
  })

  test.each([
    ['zip', { zip: 'DEF' }],
    ['crit', { crit: ['exp'] }],
    ['crit', { crit: [] }],
    ['p2c', { p2c: 1_000_000_000 }],
    ['p2s', { p2s: 'AAAA' }],
    ['b64', { b64: false }],
    ['typ', { typ: 'JWT' }],
  ])('with %s is refused', async (member, header) => {
    await refuses(forged({ header }), member)
    await refuses(anonymous(newMessage(), { header }), member)
  })

  test.each([
    'PBES2-HS256+A128KW',
    'RSA1_5',
    'dir',
    'none',
    'ECDH-1PU',
    'ECDH-ES',
    'ECDH-1PU+A128KW',
    'ecdh-1pu+a256kw',
    '',
    undefined,
  ])('alg %s is refused', async (alg) => {
    await refuses(forged({ header: { alg } as never }), 'alg')
  })

  test.each(['A128CBC-HS256', 'A128GCM', 'C20P', 'none', undefined])('enc %s is refused', async (enc) => {
    await refuses(forged({ header: { enc } as never }), 'enc')
  })

  test('authcrypt by anything but A256CBC-HS512 is refused', async () => {
    await refuses(forged({ enc: 'A256GCM' }), 'A256CBC-HS512')
    await refuses(forged({ enc: 'XC20P' }), 'A256CBC-HS512')
  })

  test('a duplicate member is refused at any level, however it is escaped', async () => {
    const again = (member: string) => forged({ headerText: (json) => json.replace(/}$/, `,${member}}`) })
    await refuses(again('"alg":"ECDH-1PU+A256KW"'), 'twice')
    await refuses(again('"\\u0061lg":"ECDH-1PU+A256KW"'), 'twice')
    await refuses(again('"x":[{"a":1,"a":1}]'), 'twice')
    await refuses(again('"__proto__":1,"__proto__":1'), 'twice')
    expect(await unpack(again('"x":[{"a":1},{"a":":\\":{"}]'), as('ben'))).toMatchObject({
      authenticated: true,
    })
  })

  test('must be canonical base64url without padding, of UTF-8', async () => {
    const header = (edit: (text: string) => string) =>
      edited((jwe) => ({ ...jwe, protected: edit(jwe.protected) }))
    for (const edit of [
      (text: string) => `${text}=`,
      (text: string) => `!${text}`,
      (text: string) => `${text}\n`,
      (text: string) => text.replace(/^./, '+'),
    ]) {
      await refuses(header(edit), 'canonical base64url')
    }
    await refuses(
      edited((jwe) => ({ ...jwe, protected: toBase64url(Uint8Array.of(0x7b, 0xff, 0x7d)) })),
      'the protected header',
    )
  })

  test('must be JSON: an array or text is refused', async () => {
    for (const text of ['[]', '"x"', 'null', 'x', ''])
      await refuses(forged({ headerText: () => text }), 'the protected header')
  })
})

test('a content key that is too long is refused', async () => {
  expect(await unpack(anonymous(newMessage(), { contentKey: Buffer.alloc(32, 7) }), as('ben'))).toMatchObject(
    { message: newMessage() },
  )
  await refuses(anonymous(newMessage(), { contentKey: Buffer.alloc(64, 7) }), 'cannot be decrypted')
})

describe('the ephemeral key', () => {
  const p256 = { recipients: [recipient('ben', 'p256')] }
  const good = recipient('mallory', 'p256').publicJwk

  test('on another curve than the key of the recipient or of the sender is refused', async () => {
    await refuses(anonymous(newMessage(), { header: { epk: good } }), 'epk is on P-256')
    await refuses(
      anonymous(newMessage(), { ...p256, header: { epk: recipient('mallory').publicJwk } }),
      'epk is on X25519',
    )
    await refuses(
      forged({ header: { skid: own('anna', 'p256').kid, apu: toBase64url(own('anna', 'p256').kid) } }),
      'the sender',
    )
  })

  test('off its curve, at infinity, of low order or of another length is refused', async () => {
    const zeros = (bytes: number) => toBase64url(Buffer.alloc(bytes))
    const points = [
      {
        ...good,
        y: toBase64url(Buffer.from(good.y!, 'base64url').map((byte, i) => (i === 31 ? byte ^ 1 : byte))),
      },
      { ...good, x: zeros(32), y: zeros(32) },
      { ...good, x: zeros(0), y: zeros(0) },
      { ...good, y: undefined },
      { ...good, kty: 'OKP' },
    ]
    for (const epk of points)
      await refuses(anonymous(newMessage(), { ...p256, header: { epk } }), 'cannot be decrypted')
    const one = toBase64url(Buffer.alloc(32).fill(1, 0, 1))
    for (const x of [zeros(32), one, zeros(31), zeros(33), '']) {
      await refuses(
        anonymous(newMessage(), { header: { epk: { kty: 'OKP', crv: 'X25519', x } } }),
        'cannot be decrypted',
      )
    }
    for (const epk of [
      undefined,
      {},
      { kty: 'OKP', crv: 'Ed25519', x: zeros(32) },
      { kty: 'oct', k: zeros(32) },
      { kty: 'EC', crv: 'secp256k1', x: zeros(32), y: zeros(32) },
    ]) {
      await refuses(anonymous(newMessage(), { header: { epk } }), 'epk')
    }
  })
})
