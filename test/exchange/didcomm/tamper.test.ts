/** Properties: any change of an envelope leads to a refusal. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { packAnoncrypt, packAuthcrypt } from '../../../src/exchange/didcomm/pack.ts'
import { unpack } from '../../../src/exchange/didcomm/unpack.ts'
import { as, newMessage, own, recipient } from './_people.ts'

const envelopes = {
  authcrypt: packAuthcrypt(newMessage(), { sender: own('anna'), recipients: [recipient('ben')] }),
  'authcrypt on P-256': packAuthcrypt(newMessage(), {
    sender: own('anna', 'p256'),
    recipients: [recipient('ben', 'p256')],
  }),
  'anoncrypt by XC20P': packAnoncrypt(newMessage(), { recipients: [recipient('ben')] }),
  'anoncrypt by A256GCM': packAnoncrypt(newMessage(), { recipients: [recipient('ben')], enc: 'A256GCM' }),
  'anoncrypt by A256CBC-HS512': packAnoncrypt(newMessage(), {
    recipients: [recipient('ben')],
    enc: 'A256CBC-HS512',
  }),
}

type Jwe = {
  protected: string
  recipients: [{ encrypted_key: string }]
  iv: string
  ciphertext: string
  tag: string
}
const parts = ['protected', 'encrypted_key', 'iv', 'ciphertext', 'tag'] as const

/** The envelope with one bit of one part's bytes flipped. */
function withFlippedBit(envelope: string, part: (typeof parts)[number], at: number): string {
  const jwe = JSON.parse(envelope) as Jwe
  const holder: Record<string, string> = part === 'encrypted_key' ? jwe.recipients[0] : (jwe as never)
  const bytes = Buffer.from(holder[part]!, 'base64url')
  const bit = at % (bytes.length * 8)
  bytes[bit >> 3]! ^= 1 << (bit & 7)
  holder[part] = bytes.toString('base64url')
  return JSON.stringify(jwe)
}

describe.each(Object.entries(envelopes))('%s', (_name, envelope) => {
  test('opens unchanged', async () => {
    expect(await unpack(envelope, as('ben'))).toMatchObject({ message: newMessage() })
  })

  test('one flipped bit in any part is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...parts), fc.nat(), async (part, at) => {
        await expect(unpack(withFlippedBit(envelope, part, at), as('ben'))).rejects.toThrow(Problem)
      }),
      { numRuns: 300, seed: 1 },
    )
  })

  test('one changed character anywhere in the text is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 33, max: 126 }), async (at, code) => {
        const index = at % envelope.length
        fc.pre(envelope.charCodeAt(index) !== code)
        const changed = envelope.slice(0, index) + String.fromCharCode(code) + envelope.slice(index + 1)
        await expect(unpack(changed, as('ben'))).rejects.toThrow(Problem)
      }),
      { numRuns: 300, seed: 2 },
    )
  })

  test('a truncated or repeated envelope is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: envelope.length - 1 }), async (length) => {
        await expect(unpack(envelope.slice(0, length), as('ben'))).rejects.toThrow(Problem)
      }),
      { numRuns: 50, seed: 3 },
    )
    await expect(unpack(envelope + envelope, as('ben'))).rejects.toThrow(Problem)
  })
})

test('any JSON message survives a round trip', async () => {
  const headers = fc.record({
    thid: fc.string({ minLength: 1 }),
    body: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
  })
  await fc.assert(
    fc.asyncProperty(headers, async (changes) => {
      const message = newMessage(changes)
      const { message: opened } = await unpack(
        packAuthcrypt(message, { sender: own('anna'), recipients: [recipient('ben')] }),
        as('ben'),
      )
      expect(opened).toEqual(message)
      expect(JSON.stringify(opened.body)).toBe(JSON.stringify(message.body))
    }),
    { numRuns: 200, seed: 4 },
  )
})

test('arbitrary JSON is never opened and never crashes the reader', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => {
      await expect(unpack(text, as('ben'))).rejects.toThrow(Problem)
    }),
    { numRuns: 300, seed: 5 },
  )
})
