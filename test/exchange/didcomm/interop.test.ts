/** Interoperability with didcomm-node in both directions, and with envelopes that it packed once. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { toPublic } from '../../../src/foundation/crypto/keys.ts'
import { type ContentEncryption, contentEncryptions } from '../../../src/exchange/didcomm/content.ts'
import { encrypt, packAnoncrypt, packAuthcrypt } from '../../../src/exchange/didcomm/pack.ts'
import { unpack } from '../../../src/exchange/didcomm/unpack.ts'
import { Message, resolver, secretsOf } from './_didcomm-node.ts'
import { signed } from './_forge.ts'
import { expectPacked, packAgain, peel } from './_packing.ts'
import { as, didOfPerson, newMessage, own, recipient, secrets } from './_people.ts'

const kept = JSON.parse(
  readFileSync(new URL('../../../fixtures/didcomm/didcomm-node.json', import.meta.url), 'utf8'),
) as {
  message: unknown
  envelopes: { name: string; envelope: string; expect: Record<string, unknown> }[]
}

const theirEncryption = {
  XC20P: 'Xc20pEcdhEsA256kw',
  'A256CBC-HS512': 'A256cbcHs512EcdhEsA256kw',
  A256GCM: 'A256gcmEcdhEsA256kw',
} as const satisfies Record<ContentEncryption, string>

/** Opens an envelope with the other implementation. */
async function unpackThere(envelope: string) {
  const [message, metadata] = await Message.unpack(envelope, resolver, secretsOf(), {})
  return { message: message.as_value() as unknown, metadata }
}

test.each(kept.envelopes)(
  'didcomm-node’s $name opens here as what it is',
  async ({ envelope, expect: expected }) => {
    expect(await unpack(envelope, as('ben'))).toEqual({
      message: kept.message,
      ...expected,
      layers: expect.any(Array),
    })
  },
)

test.each(kept.envelopes)(
  'didcomm-node’s $name is packed to the same bytes, and again with new keys',
  async ({ envelope, expect: expected }) => {
    const keys = new Map(Object.entries(secrets))
    const peeled = peel(envelope, keys)
    for (const layer of peeled) expectPacked(layer, keys)
    const again = packAgain(peeled, (kid) => toPublic(keys.get(kid)!), keys)
    expect(await unpack(again, as('ben'))).toEqual({
      message: kept.message,
      ...expected,
      layers: expect.any(Array),
    })
  },
)

describe.each(['x25519', 'p256'])('on %s', (fragment) => {
  test('didcomm-node unpacks this agent’s authcrypt, with this sender', async () => {
    const envelope = packAuthcrypt(newMessage(), {
      sender: own('anna', fragment),
      recipients: [recipient('ben', fragment)],
    })
    const { message, metadata } = await unpackThere(envelope)
    expect(message).toEqual(newMessage())
    expect(metadata).toMatchObject({
      authenticated: true,
      anonymous_sender: false,
      encrypted_from_kid: own('anna', fragment).kid,
    })
  })

  test.each(contentEncryptions)('didcomm-node unpacks this agent’s anoncrypt by %s', async (enc) => {
    const { message, metadata } = await unpackThere(
      packAnoncrypt(newMessage(), { recipients: [recipient('ben', fragment)], enc }),
    )
    expect(message).toEqual(newMessage())
    expect(metadata).toMatchObject({ authenticated: false, anonymous_sender: true })
  })

  test('this agent unpacks didcomm-node’s authcrypt', async () => {
    const [from, to] = [own('anna', fragment).kid, own('ben', fragment).kid]
    const [envelope] = await new Message(newMessage() as never).pack_encrypted(
      to,
      from,
      null,
      resolver,
      secretsOf(),
      { forward: false },
    )
    expect(await unpack(envelope, as('ben'))).toMatchObject({
      message: newMessage(),
      senderKid: from,
      authenticated: true,
    })
  })

  test.each(contentEncryptions)(
    'this agent unpacks didcomm-node’s anoncrypt by %s of authcrypt',
    async (enc) => {
      const [from, to] = [own('anna', fragment).kid, own('ben', fragment).kid]
      const options = { forward: false, protect_sender: true, enc_alg_anon: theirEncryption[enc] }
      const [envelope] = await new Message(newMessage() as never).pack_encrypted(
        to,
        from,
        null,
        resolver,
        secretsOf(),
        options,
      )
      expect(await unpack(envelope, as('ben'))).toMatchObject({
        message: newMessage(),
        senderKid: from,
        authenticated: true,
        anonymous: true,
      })
    },
  )
})

test('didcomm-node unpacks an envelope for two keys with the second key', async () => {
  const recipients = [recipient('ben', 'x25519'), recipient('ben', 'x25519-2')]
  const envelope = packAuthcrypt(newMessage(), { sender: own('anna'), recipients })
  const held = secretsOf([recipients[1]!.kid])
  const [message, metadata] = await Message.unpack(envelope, resolver, held, {})
  expect(message.as_value()).toEqual(newMessage())
  expect(metadata.encrypted_to_kids).toEqual(recipients.map(({ kid }) => kid))
})

test('didcomm-node accepts the signatures that the tests make', async () => {
  const plaintext = JSON.stringify(signed(newMessage(), [own('anna', 'ed25519')]))
  const { metadata } = await unpackThere(
    encrypt(Buffer.from(plaintext), { recipients: [recipient('ben')], enc: 'XC20P' }),
  )
  expect(metadata).toMatchObject({ non_repudiation: true, sign_from: `${didOfPerson('anna')}#ed25519` })
})

test('didcomm-node refuses this agent’s envelope with one flipped bit', async () => {
  const envelope = JSON.parse(
    packAuthcrypt(newMessage(), { sender: own('anna'), recipients: [recipient('ben')] }),
  ) as { tag: string }
  const tag = Buffer.from(envelope.tag, 'base64url')
  tag[0]! ^= 1
  await expect(
    unpackThere(JSON.stringify({ ...envelope, tag: tag.toString('base64url') })),
  ).rejects.toBeDefined()
})
