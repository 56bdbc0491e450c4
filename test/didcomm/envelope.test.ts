/**
 * Envelopes that are malformed, oversized or expensive (decompression, PBES2, weak points, duplicate
 * members).
 */
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/base/problem.ts'
import { toBase64url } from '../../src/base/bytes.ts'
import { jsonLimits } from '../../src/base/json.ts'
import { parseEnvelope } from '../../src/didcomm/jwe.ts'
import { unpack } from '../../src/didcomm/unpack.ts'
import { anonymous, edited, forged } from './_forge.ts'
import { as, newMessage, own, recipient } from './_people.ts'
import { refusal, refuses } from './_refusal.ts'

describe('the shape', () => {
  test('any missing part is refused', async () => {
    for (const part of ['ciphertext', 'protected', 'recipients', 'tag', 'iv']) {
      await refuses(
        edited(({ [part]: _part, ...rest }) => rest),
        part,
      )
      await refuses(
        edited((jwe) => ({ ...jwe, [part]: null })),
        part,
      )
      await refuses(
        edited((jwe) => ({ ...jwe, [part]: [] })),
        part,
      )
    }
    await refuses(
      edited((jwe) => ({ ...jwe, recipients: [{ header: jwe.recipients[0]!['header'] }] })),
      'encrypted_key',
    )
    await refuses(
      edited((jwe) => ({ ...jwe, recipients: [{ encrypted_key: jwe.recipients[0]!['encrypted_key'] }] })),
      'header',
    )
    await refuses(
      edited((jwe) => ({ ...jwe, recipients: [{ ...jwe.recipients[0]!, header: {} }] })),
      'kid',
    )
  })

  test('a flattened or compact JWE is refused', async () => {
    await refuses(
      edited(({ recipients, ...rest }) => ({ ...rest, ...recipients[0]! })),
      'recipients',
    )
    await refuses(
      edited((jwe) =>
        [jwe.protected, jwe.recipients[0]!['encrypted_key'], jwe['iv'], jwe['ciphertext'], jwe['tag']].join(
          '.',
        ),
      ),
      'not a JWE',
    )
  })

  test('anything that is not a JSON object is refused', async () => {
    for (const text of ['', ' ', 'null', '[]', '1', '"x"', '{', 'eyJ9', '{"protected":}', '\u0000'])
      await refuses(text, 'the envelope')
    await refuses(Uint8Array.of(0xff, 0xfe, 0x7b, 0x7d), 'not JSON')
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
      await refuses(
        edited((jwe) => ({ ...jwe, recipients: [{ ...jwe.recipients[0]!, header: { kid } }] })),
        'kid',
      )
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

  test('the plaintext must be JSON in UTF-8, and not too deep', async () => {
    await refuses(forged({ plaintext: 'not JSON' }), 'the plaintext is not JSON')
    const nested = (levels: number) => `${'[1,'.repeat(levels)}1${']'.repeat(levels)}`
    const deep = (levels: number) =>
      JSON.stringify({ ...newMessage(), body: { deep: 'HERE' } }).replace('"HERE"', nested(levels))
    expect(await unpack(forged({ plaintext: deep(jsonLimits.depth - 2) }), as('ben'))).toMatchObject({
      authenticated: true,
    })
    await refuses(forged({ plaintext: deep(jsonLimits.depth - 1) }), 'nested deeper')
    await refuses(forged({ plaintext: deep(100_000) }), 'nested deeper')
  })

  test('a refusal does not quote the plaintext', async () => {
    const message = await refusal(forged({ plaintext: 'my secret' }))
    expect(message).not.toContain('secret')
  })
})

describe('limits', () => {
  test('a large envelope is accepted, because the HTTP server limits the size', async () => {
    const big = newMessage({ body: { content: 'x'.repeat(700_000) } })
    expect(await unpack(forged({ plaintext: big }), as('ben'))).toMatchObject({ message: big })
  })

  test('more than a hundred recipients are refused', async () => {
    const many = (count: number) =>
      edited((jwe) => ({
        ...jwe,
        recipients: Array.from({ length: count }, (_, i) => ({
          ...jwe.recipients[0]!,
          header: { kid: `did:example:ben#${i}` },
        })),
      }))
    await refuses(many(101), 'recipients')
    await refuses(many(100), 'apv')
  })

  test('a refusal quotes only the beginning of a peer’s text', async () => {
    const long = `did:example:${'b'.repeat(20_000)}`
    expect((await refusal(forged({ plaintext: newMessage({ from: long }) }))).length).toBeLessThan(1_200)
    const error = (await unpack(
      forged({ recipients: [{ ...recipient('ben'), kid: `${long}#x25519` }] }),
      as('ben'),
    ).catch((thrown: unknown) => thrown)) as Problem
    expect(error.type).toBe('error:DIDCommControllerError:RecipientNotFound')
    expect(error.message.length).toBeLessThan(1_200)
  })

  test('a protected header over its limit is refused before it is read', async () => {
    await refuses(forged({ header: { pad: 'x'.repeat(60_000) } }), 'too long')
  })

  test('deep JSON, and JSON with many colons, in header and envelope is refused quickly', async () => {
    await refuses('['.repeat(500_000) + ']'.repeat(500_000), 'nested deeper')
    // It is not JSON, but must be refused before parsing.
    await refuses('['.repeat(500_000), 'nested deeper')
    await refuses(
      forged({ headerText: (json) => json.replace('{', `{"x":${'['.repeat(9_000)}${']'.repeat(9_000)},`) }),
      'nested deeper',
    )
    await refuses(forged({ headerText: () => `{"x":"${'\\\\'.repeat(20_000)}"}` }), 'alg')
  })
})

describe('base64url everywhere', () => {
  test('a non-canonical encoding is refused', async () => {
    const spare = (text: string) => {
      // Changes unused bits of the last character: a lax decoder reads the same bytes.
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) + 1]!
    }
    for (const part of ['iv', 'tag'] as const) {
      await refuses(
        edited((jwe) => ({ ...jwe, [part]: spare(jwe[part] as string) })),
        `${part} is not canonical base64url`,
      )
      await refuses(
        edited((jwe) => ({ ...jwe, [part]: `!${jwe[part] as string}` })),
        `${part} is not canonical base64url`,
      )
      await refuses(
        edited((jwe) => ({ ...jwe, [part]: `${jwe[part] as string}=` })),
        `${part} is not canonical base64url`,
      )
    }
    await refuses(
      edited((jwe) => ({ ...jwe, ciphertext: `${jwe['ciphertext'] as string}=` })),
      'ciphertext is not canonical',
    )
    const key = (edit: (text: string) => string) =>
      edited((jwe) => ({
        ...jwe,
        recipients: jwe.recipients.map((r) => ({ ...r, encrypted_key: edit(r['encrypted_key'] as string) })),
      }))
    await refuses(
      key((text) => `!${text}`),
      'encrypted_key is not canonical',
    )
    await refuses(forged({ header: { apu: `${toBase64url(own('anna').kid)}=` } }), 'apu')
  })

  test('iv and tag of another length are refused', async () => {
    for (const [part, bytes] of [
      ['iv', 12],
      ['iv', 0],
      ['tag', 16],
      ['tag', 0],
      ['tag', 64],
    ] as const) {
      await refuses(
        edited((jwe) => ({ ...jwe, [part]: toBase64url(Buffer.alloc(bytes)) })),
        `${part} has ${bytes} bytes`,
      )
    }
  })
})

test('parseEnvelope refuses envelopes that could never be decrypted', () => {
  expect(() => parseEnvelope(forged({ header: { zip: 'DEF' } }))).toThrow(Problem)
  expect(parseEnvelope(forged())).toMatchObject({
    kids: ['did:example:ben#x25519'],
    senderKid: 'did:example:anna#x25519',
  })
  expect(parseEnvelope(anonymous())).not.toHaveProperty('senderKid')
})
