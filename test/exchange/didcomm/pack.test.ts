import { describe, expect, test } from 'vitest'
import { contentEncryptions } from '../../../src/exchange/didcomm/content.ts'
import { packAnoncrypt, packAuthcrypt } from '../../../src/exchange/didcomm/pack.ts'
import { unpack } from '../../../src/exchange/didcomm/unpack.ts'
import { as, didOfPerson, newMessage, own, recipient } from './_people.ts'

type Packed = { protected: string; recipients: { header: { kid: string } }[] }

const read = (envelope: string) => JSON.parse(envelope) as Packed
const headerOf = (envelope: string) =>
  JSON.parse(Buffer.from(read(envelope).protected, 'base64url').toString()) as Record<string, unknown>
const toBen = { sender: own('anna'), recipients: [recipient('ben')] }

describe('the packed form', () => {
  test('authcrypt has the header members and order of the Cloud Agent’s', () => {
    const header = headerOf(packAuthcrypt(newMessage(), toBen))
    expect(Object.keys(header)).toEqual(['epk', 'apv', 'skid', 'apu', 'typ', 'enc', 'alg'])
    expect(header).toMatchObject({
      skid: 'did:example:anna#x25519',
      apu: Buffer.from('did:example:anna#x25519').toString('base64url'),
      typ: 'application/didcomm-encrypted+json',
      enc: 'A256CBC-HS512',
      alg: 'ECDH-1PU+A256KW',
    })
    expect(Object.keys(header['epk'] as object)).toEqual(['kty', 'crv', 'x'])
  })

  test('anoncrypt has neither typ nor anything of the sender, and uses XC20P by default', () => {
    const header = headerOf(packAnoncrypt(newMessage(), { recipients: [recipient('ben')] }))
    expect(Object.keys(header)).toEqual(['epk', 'apv', 'enc', 'alg'])
    expect(header).toMatchObject({ enc: 'XC20P', alg: 'ECDH-ES+A256KW' })
  })

  test('the envelope is a general JWE whose recipients have only a kid', () => {
    const envelope = read(packAuthcrypt(newMessage(), toBen))
    expect(Object.keys(envelope)).toEqual(['ciphertext', 'protected', 'recipients', 'tag', 'iv'])
    expect(envelope.recipients.map((entry) => [Object.keys(entry), entry.header])).toEqual([
      [['encrypted_key', 'header'], { kid: 'did:example:ben#x25519' }],
    ])
  })

  test('apv does not depend on the order of the recipients', () => {
    const recipients = [recipient('ben', 'x25519-2'), recipient('ben', 'x25519')]
    const apv = (order: typeof recipients) =>
      headerOf(packAuthcrypt(newMessage(), { sender: own('anna'), recipients: order }))['apv']
    expect(apv(recipients)).toBe(apv(recipients.toReversed()))
  })

  test('two envelopes of one message have different keys and ciphertexts', () => {
    const [first, second] = [packAuthcrypt(newMessage(), toBen), packAuthcrypt(newMessage(), toBen)]
    expect(headerOf(first)['epk']).not.toEqual(headerOf(second)['epk'])
    expect(JSON.parse(first)).not.toMatchObject({ iv: (JSON.parse(second) as { iv: string }).iv })
  })
})

describe('round trips', () => {
  describe.each(['x25519', 'p256', 'p384', 'p521'])('on %s', (fragment) => {
    test('authcrypt', async () => {
      const envelope = packAuthcrypt(newMessage(), {
        sender: own('anna', fragment),
        recipients: [recipient('ben', fragment)],
      })
      expect(await unpack(envelope, as('ben'))).toEqual({
        message: newMessage(),
        recipientKid: `did:example:ben#${fragment}`,
        senderKid: `did:example:anna#${fragment}`,
        authenticated: true,
        anonymous: false,
        layers: [expect.objectContaining({ type: 'authcrypt', enc: 'A256CBC-HS512' })],
      })
    })

    test.each(contentEncryptions)('anoncrypt by %s', async (enc) => {
      const envelope = packAnoncrypt(newMessage(), { recipients: [recipient('ben', fragment)], enc })
      const recipientKid = `did:example:ben#${fragment}`
      expect(await unpack(envelope, as('ben'))).toEqual({
        message: newMessage(),
        recipientKid,
        authenticated: false,
        anonymous: true,
        layers: [{ type: 'anoncrypt', alg: 'ECDH-ES+A256KW', enc, recipientKids: [recipientKid] }],
      })
    })
  })

  test.each(['x25519', 'x25519-2'])('with only %s of two recipient keys', async (fragment) => {
    const recipients = [recipient('ben', 'x25519'), recipient('ben', 'x25519-2')]
    const envelope = packAuthcrypt(newMessage(), { sender: own('anna'), recipients })
    expect((await unpack(envelope, as('ben', [fragment]))).recipientKid).toBe(`did:example:ben#${fragment}`)
  })

  test('a body of any length and script', async () => {
    for (const content of ['', 'é\u{1F600}\u2028\u0000"\\', 'x'.repeat(100_000)]) {
      const message = newMessage({ body: { content } })
      expect((await unpack(packAuthcrypt(message, toBen), as('ben'))).message).toEqual(message)
    }
  })

  test('typ is written when the message has none', async () => {
    const { typ: _typ, ...bare } = newMessage()
    expect((await unpack(packAuthcrypt(bare, toBen), as('ben'))).message).toEqual(newMessage())
  })

  test('ack and please_ack are removed', async () => {
    const { message } = await unpack(
      packAuthcrypt(newMessage({ ack: ['1'], please_ack: [''], lang: 'en' }), toBen),
      as('ben'),
    )
    expect(message).toEqual({ ...newMessage(), lang: 'en' })
  })
})

describe('a message that receivers would refuse throws', () => {
  test('from is not the DID of the sending key', () => {
    expect(() => packAuthcrypt(newMessage({ from: didOfPerson('mallory') }), toBen)).toThrow(TypeError)
    const { from: _from, ...withoutFrom } = newMessage()
    expect(() => packAuthcrypt(withoutFrom, toBen)).toThrow(TypeError)
  })

  test('to leaves a recipient out', () => {
    expect(() => packAnoncrypt(newMessage({ to: [didOfPerson('anna')] }), toBen)).toThrow(TypeError)
  })

  test('there is no recipient, or one of another DID or curve', () => {
    const sender = own('anna')
    expect(() => packAuthcrypt(newMessage(), { sender, recipients: [] })).toThrow(TypeError)
    const to = [didOfPerson('ben'), didOfPerson('mallory')]
    expect(() =>
      packAuthcrypt(newMessage({ to }), { sender, recipients: [recipient('ben'), recipient('mallory')] }),
    ).toThrow(TypeError)
    expect(() =>
      packAuthcrypt(newMessage(), { sender, recipients: [recipient('ben'), recipient('ben', 'p256')] }),
    ).toThrow(TypeError)
    expect(() => packAuthcrypt(newMessage(), { sender, recipients: [recipient('ben', 'p256')] })).toThrow(
      TypeError,
    )
    for (const fragment of ['ed25519', 'es256k']) {
      expect(() => packAnoncrypt(newMessage(), { recipients: [recipient('ben', fragment)] })).toThrow(
        TypeError,
      )
    }
  })
})
