/**
 * Envelopes that are malformed, oversized or expensive (decompression, PBES2, weak points, duplicate
 * members).
 */
import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { jsonLimits } from '../../../src/foundation/json.ts'
import { parseEnvelope } from '../../../src/exchange/didcomm/jwe.ts'
import { unpack } from '../../../src/exchange/didcomm/unpack.ts'
import { anonymous, edited, forged } from './_forge.ts'
import { as, newMessage, own, recipient } from './_people.ts'
import { refusal, refuses } from './_refusal.ts'

type Recipient = Record<string, unknown>

/** The envelope with a member replaced. */
const withMember = (name: string, change: (value: string) => unknown) =>
  edited((jwe) => ({ ...jwe, [name]: change((jwe as unknown as Record<string, string>)[name]!) }))
/** The envelope with its recipient replaced. */
const withRecipient = (change: (recipient: Recipient) => Recipient) =>
  edited((jwe) => ({ ...jwe, recipients: [change(jwe.recipients[0]!)] }))

describe('the shape', () => {
  test.each(['ciphertext', 'protected', 'recipients', 'tag', 'iv'])(
    'a missing %s is refused',
    async (part) => {
      for (const value of [undefined, null, []])
        await refuses(
          withMember(part, () => value),
          part,
        )
    },
  )

  test.each<[string, (recipient: Recipient) => Recipient]>([
    ['encrypted_key', ({ header }) => ({ header })],
    ['header', ({ encrypted_key }) => ({ encrypted_key })],
    ['kid', (recipient) => ({ ...recipient, header: {} })],
  ])('a recipient without %s is refused', async (part, change) => {
    await refuses(withRecipient(change), part)
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

  test.each([
    'did:example:ben',
    '#x25519',
    'x25519',
    'https://ben.example#x25519',
    'did:example:ben#a#b',
    'did:example:ben# x',
    7,
  ])('the kid %j, not a DID URL with a fragment, is refused', async (kid) => {
    await refuses(
      withRecipient((recipient) => ({ ...recipient, header: { kid } })),
      'kid',
    )
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
  /** Changes unused bits of the last character: a lax decoder reads the same bytes. */
  const spare = (text: string) => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) + 1]!
  }

  test.each<[string, (text: string) => string]>([
    ['iv', spare],
    ['iv', (text) => `!${text}`],
    ['iv', (text) => `${text}=`],
    ['tag', spare],
    ['tag', (text) => `!${text}`],
    ['tag', (text) => `${text}=`],
    ['ciphertext', (text) => `${text}=`],
  ])('a non-canonical %s is refused', async (part, change) => {
    await refuses(withMember(part, change), `${part} is not canonical base64url`)
  })

  test('a non-canonical encrypted_key or apu is refused', async () => {
    const key = withRecipient((recipient) => ({
      ...recipient,
      encrypted_key: `!${recipient['encrypted_key'] as string}`,
    }))
    await refuses(key, 'encrypted_key is not canonical')
    await refuses(forged({ header: { apu: `${toBase64url(own('anna').kid)}=` } }), 'apu')
  })

  test.each([
    ['iv', 12],
    ['iv', 0],
    ['tag', 16],
    ['tag', 0],
    ['tag', 64],
  ])('%s with %i bytes is refused', async (part, bytes) => {
    await refuses(
      withMember(part, () => toBase64url(Buffer.alloc(bytes))),
      `${part} has ${bytes} bytes`,
    )
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
