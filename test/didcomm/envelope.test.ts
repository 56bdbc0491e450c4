/** Envelopes that are malformed, oversized or made to cost more than they should (threats: decompression, PBES2, weak points, double meaning). */
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/base/problem.ts'
import { toBase64url } from '../../src/base/bytes.ts'
import { maxDepth } from '../../src/didcomm/json.ts'
import { maxEnvelopeBytes, parseEnvelope } from '../../src/didcomm/jwe.ts'
import { unpack } from '../../src/didcomm/unpack.ts'
import { type Forgery, forge } from './_forge.ts'
import { as, letter, own, recipient } from './_people.ts'

type Jwe = Record<string, unknown> & { protected: string; recipients: Record<string, unknown>[] }

const forged = (changes: Partial<Forgery> = {}) =>
  forge({ plaintext: letter(), sender: own('anna'), recipients: [recipient('ben')], ...changes })
const anonymous = (changes: Partial<Forgery> = {}) =>
  forge({ plaintext: letter(), recipients: [recipient('ben')], enc: 'XC20P', ...changes })
const edited = (edit: (jwe: Jwe) => unknown) => forged({ envelope: (jwe) => edit(jwe as Jwe) })

async function refusal(envelope: string | Uint8Array): Promise<string> {
  const error = await unpack(envelope, as('ben')).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Problem)) throw new Error(`not refused by a problem: ${String(error)}`)
  expect(error.type).toBe('error:DIDCommControllerError:UnpackingFailed')
  return error.message
}

describe('the shape', () => {
  test('any missing part is refused', async () => {
    for (const part of ['ciphertext', 'protected', 'recipients', 'tag', 'iv']) {
      expect(await refusal(edited(({ [part]: _part, ...rest }) => rest))).toContain(part)
      expect(await refusal(edited((jwe) => ({ ...jwe, [part]: null })))).toContain(part)
      expect(await refusal(edited((jwe) => ({ ...jwe, [part]: [] })))).toContain(part)
    }
    expect(await refusal(edited((jwe) => ({ ...jwe, recipients: [{ header: jwe.recipients[0]!['header'] }] })))).toContain('encrypted_key')
    expect(await refusal(edited((jwe) => ({ ...jwe, recipients: [{ encrypted_key: jwe.recipients[0]!['encrypted_key'] }] })))).toContain(
      'header',
    )
    expect(await refusal(edited((jwe) => ({ ...jwe, recipients: [{ ...jwe.recipients[0]!, header: {} }] })))).toContain('kid')
  })

  test('a flattened or compact JWE is refused', async () => {
    expect(await refusal(edited(({ recipients, ...rest }) => ({ ...rest, ...recipients[0]! })))).toContain('recipients')
    expect(
      await refusal(
        edited((jwe) => [jwe.protected, jwe.recipients[0]!['encrypted_key'], jwe['iv'], jwe['ciphertext'], jwe['tag']].join('.')),
      ),
    ).toContain('not a JWE')
  })

  test('anything that is not a JSON object is refused', async () => {
    for (const text of ['', ' ', 'null', '[]', '1', '"x"', '{', 'eyJ9', '{"protected":}', '\u0000'])
      expect(await refusal(text)).toContain('the envelope')
    expect(await refusal(Uint8Array.of(0xff, 0xfe, 0x7b, 0x7d))).toContain('not JSON')
  })

  test('a kid that is not a DID URL with a fragment is refused', async () => {
    for (const kid of [
      'did:example:ben',
      '#x25519',
      'x25519',
      'https://ben.example#x25519',
      'did:example:ben#a#b',
      'did:example:ben# x',
      7,
    ]) {
      expect(await refusal(edited((jwe) => ({ ...jwe, recipients: [{ ...jwe.recipients[0]!, header: { kid } }] })))).toContain('kid')
    }
  })

  test('unknown members outside the protected header change nothing', async () => {
    const more = edited((jwe) => ({
      ...jwe,
      unprotected: { alg: 'none' },
      recipients: jwe.recipients.map((r) => ({ ...r, header: { ...(r['header'] as object), alg: 'dir' } })),
    }))
    expect(await unpack(more, as('ben'))).toMatchObject({ authenticated: true })
  })

  test('the text after decryption must be JSON in UTF-8, not too deep', async () => {
    expect(await refusal(forged({ plaintext: 'not JSON' }))).toContain('the plaintext is not JSON')
    const nested = (levels: number) => `${'[1,'.repeat(levels)}1${']'.repeat(levels)}`
    const deep = (levels: number) => JSON.stringify({ ...letter(), body: { deep: 'HERE' } }).replace('"HERE"', nested(levels))
    expect(await unpack(forged({ plaintext: deep(maxDepth - 2) }), as('ben'))).toMatchObject({ authenticated: true })
    expect(await refusal(forged({ plaintext: deep(maxDepth - 1) }))).toContain('nested deeper')
    expect(await refusal(forged({ plaintext: deep(100_000) }))).toContain('nested deeper')
  })

  test('a refusal does not quote the plaintext', async () => {
    const message = await refusal(forged({ plaintext: 'my secret' }))
    expect(message).not.toContain('secret')
  })
})

describe('limits', () => {
  test('an envelope over 1 MiB is refused, one below is read', async () => {
    expect(await refusal(`{"x":"${'a'.repeat(maxEnvelopeBytes)}"}`)).toContain('larger than')
    expect(await refusal(Buffer.alloc(maxEnvelopeBytes + 1, 32))).toContain('larger than')
    const big = letter({ body: { content: 'x'.repeat(700_000) } })
    expect(await unpack(forged({ plaintext: big }), as('ben'))).toMatchObject({ message: big })
  })

  test('more than a hundred recipients are refused', async () => {
    const many = (count: number) =>
      edited((jwe) => ({
        ...jwe,
        recipients: Array.from({ length: count }, (_, i) => ({ ...jwe.recipients[0]!, header: { kid: `did:example:ben#${i}` } })),
      }))
    expect(await refusal(many(101))).toContain('recipients')
    expect(await refusal(many(100))).toContain('apv')
  })

  test('what a refusal repeats of a peer’s words is cut', async () => {
    const long = `did:example:${'b'.repeat(20_000)}`
    expect((await refusal(forged({ plaintext: letter({ from: long }) }))).length).toBeLessThan(1_200)
    const error = (await unpack(forged({ recipients: [{ ...recipient('ben'), kid: `${long}#x25519` }] }), as('ben')).catch(
      (thrown: unknown) => thrown,
    )) as Problem
    expect(error.type).toBe('error:DIDCommControllerError:RecipientNotFound')
    expect(error.message.length).toBeLessThan(1_200)
  })

  test('a protected header over its limit is refused before it is read', async () => {
    expect(await refusal(forged({ header: { pad: 'x'.repeat(60_000) } }))).toContain('too long')
  })

  test('deep or colon-ridden JSON in header and envelope is refused quickly and without a crash', async () => {
    expect(await refusal('['.repeat(500_000) + ']'.repeat(500_000))).toContain('nested deeper')
    expect(await refusal(forged({ headerText: (json) => json.replace('{', `{"x":${'['.repeat(9_000)}${']'.repeat(9_000)},`) }))).toContain(
      'nested deeper',
    )
    expect(await refusal(forged({ headerText: () => `{"x":"${'\\\\'.repeat(20_000)}"}` }))).toContain('alg')
  })
})

describe('the protected header', () => {
  test('is taken with members nobody knows', async () => {
    expect(await unpack(forged({ header: { cty: 'x', nonsense: { a: [1] } } }), as('ben'))).toMatchObject({ authenticated: true })
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
    expect(await refusal(forged({ header }))).toContain(member)
    expect(await refusal(anonymous({ header }))).toContain(member)
  })

  test.each(['PBES2-HS256+A128KW', 'RSA1_5', 'dir', 'none', 'ECDH-1PU', 'ECDH-ES', 'ECDH-1PU+A128KW', 'ecdh-1pu+a256kw', '', undefined])(
    'alg %s is refused',
    async (alg) => {
      expect(await refusal(forged({ header: { alg } as never }))).toContain('alg')
    },
  )

  test.each(['A128CBC-HS256', 'A128GCM', 'C20P', 'none', undefined])('enc %s is refused', async (enc) => {
    expect(await refusal(forged({ header: { enc } as never }))).toContain('enc')
  })

  test('authcrypt by anything but A256CBC-HS512 is refused', async () => {
    expect(await refusal(forged({ enc: 'A256GCM' }))).toContain('A256CBC-HS512')
    expect(await refusal(forged({ enc: 'XC20P' }))).toContain('A256CBC-HS512')
  })

  test('naming a member twice is refused, at any level, however it is spelt', async () => {
    const again = (member: string) => forged({ headerText: (json) => json.replace(/}$/, `,${member}}`) })
    expect(await refusal(again('"alg":"ECDH-1PU+A256KW"'))).toContain('twice')
    expect(await refusal(again('"\\u0061lg":"ECDH-1PU+A256KW"'))).toContain('twice')
    expect(await refusal(again('"x":[{"a":1,"a":1}]'))).toContain('twice')
    expect(await refusal(again('"__proto__":1,"__proto__":1'))).toContain('twice')
    expect(await unpack(again('"x":[{"a":1},{"a":":\\":{"}]'), as('ben'))).toMatchObject({ authenticated: true })
  })

  test('must be canonical base64url without padding, of UTF-8', async () => {
    const header = (edit: (text: string) => string) => edited((jwe) => ({ ...jwe, protected: edit(jwe.protected) }))
    for (const edit of [
      (text: string) => `${text}=`,
      (text: string) => `!${text}`,
      (text: string) => `${text}\n`,
      (text: string) => text.replace(/^./, '+'),
    ]) {
      expect(await refusal(header(edit))).toContain('canonical base64url')
    }
    expect(await refusal(edited((jwe) => ({ ...jwe, protected: toBase64url(Uint8Array.of(0x7b, 0xff, 0x7d)) })))).toContain(
      'the protected header',
    )
  })

  test('must be JSON: an array or text is refused', async () => {
    for (const text of ['[]', '"x"', 'null', 'x', ''])
      expect(await refusal(forged({ headerText: () => text }))).toContain('the protected header')
  })
})

describe('base64url everywhere', () => {
  test('a text that is not the one encoding of its bytes is refused', async () => {
    const spare = (text: string) => {
      // The last character of these carries unused bits: the next letter means the same bytes to a lax decoder.
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) + 1]!
    }
    for (const part of ['iv', 'tag'] as const) {
      expect(await refusal(edited((jwe) => ({ ...jwe, [part]: spare(jwe[part] as string) })))).toContain(
        `${part} is not canonical base64url`,
      )
      expect(await refusal(edited((jwe) => ({ ...jwe, [part]: `!${jwe[part] as string}` })))).toContain(
        `${part} is not canonical base64url`,
      )
      expect(await refusal(edited((jwe) => ({ ...jwe, [part]: `${jwe[part] as string}=` })))).toContain(
        `${part} is not canonical base64url`,
      )
    }
    expect(await refusal(edited((jwe) => ({ ...jwe, ciphertext: `${jwe['ciphertext'] as string}=` })))).toContain(
      'ciphertext is not canonical',
    )
    const key = (edit: (text: string) => string) =>
      edited((jwe) => ({ ...jwe, recipients: jwe.recipients.map((r) => ({ ...r, encrypted_key: edit(r['encrypted_key'] as string) })) }))
    expect(await refusal(key((text) => `!${text}`))).toContain('encrypted_key is not canonical')
    expect(await refusal(forged({ header: { apu: `${toBase64url(own('anna').kid)}=` } }))).toContain('apu')
  })

  test('iv and tag of another length are refused', async () => {
    for (const [part, bytes] of [
      ['iv', 12],
      ['iv', 0],
      ['tag', 16],
      ['tag', 0],
      ['tag', 64],
    ] as const) {
      expect(await refusal(edited((jwe) => ({ ...jwe, [part]: toBase64url(Buffer.alloc(bytes)) })))).toContain(`${part} has ${bytes} bytes`)
    }
  })
})

test('a content key longer than its algorithm takes is refused, though the rest of it would be ignored', async () => {
  expect(await unpack(anonymous({ contentKey: Buffer.alloc(32, 7) }), as('ben'))).toMatchObject({ message: letter() })
  expect(await refusal(anonymous({ contentKey: Buffer.alloc(64, 7) }))).toContain('cannot be decrypted')
})

describe('the ephemeral key', () => {
  const p256 = { recipients: [recipient('ben', 'p256')] }
  const good = recipient('mallory', 'p256').publicJwk

  test('on another curve than the recipient’s or the sender’s is refused', async () => {
    expect(await refusal(anonymous({ header: { epk: good } }))).toContain('epk is on P-256')
    expect(await refusal(anonymous({ ...p256, header: { epk: recipient('mallory').publicJwk } }))).toContain('epk is on X25519')
    expect(await refusal(forged({ header: { skid: own('anna', 'p256').kid, apu: toBase64url(own('anna', 'p256').kid) } }))).toContain(
      'the sender',
    )
  })

  test('off its curve, at infinity, of low order or of another length is refused', async () => {
    const zeros = (bytes: number) => toBase64url(Buffer.alloc(bytes))
    const points = [
      { ...good, y: toBase64url(Buffer.from(good.y!, 'base64url').map((byte, i) => (i === 31 ? byte ^ 1 : byte))) },
      { ...good, x: zeros(32), y: zeros(32) },
      { ...good, x: zeros(0), y: zeros(0) },
      { ...good, y: undefined },
      { ...good, kty: 'OKP' },
    ]
    for (const epk of points) expect(await refusal(anonymous({ ...p256, header: { epk } }))).toContain('cannot be decrypted')
    const one = toBase64url(Buffer.alloc(32).fill(1, 0, 1))
    for (const x of [zeros(32), one, zeros(31), zeros(33), '']) {
      expect(await refusal(anonymous({ header: { epk: { kty: 'OKP', crv: 'X25519', x } } }))).toContain('cannot be decrypted')
    }
    for (const epk of [
      undefined,
      {},
      { kty: 'OKP', crv: 'Ed25519', x: zeros(32) },
      { kty: 'oct', k: zeros(32) },
      { kty: 'EC', crv: 'secp256k1', x: zeros(32), y: zeros(32) },
    ]) {
      expect(await refusal(anonymous({ header: { epk } }))).toContain('epk')
    }
  })
})

test('parsing alone refuses what could never be opened', () => {
  expect(() => parseEnvelope(forged({ header: { zip: 'DEF' } }))).toThrow(Problem)
  expect(parseEnvelope(forged())).toMatchObject({ kids: ['did:example:ben#x25519'], senderKid: 'did:example:anna#x25519' })
  expect(parseEnvelope(anonymous())).not.toHaveProperty('senderKid')
})
