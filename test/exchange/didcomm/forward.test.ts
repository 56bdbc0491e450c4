/** Forwards (Routing 2.0): wrapping and reading. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { forwardType, packAuthcrypt, readForward, wrapForward } from '../../../src/exchange/didcomm/pack.ts'
import type { Hop } from '../../../src/exchange/didcomm/route.ts'
import { unpack } from '../../../src/exchange/didcomm/unpack.ts'
import { Message, resolver, secretsOf } from './_didcomm-node.ts'
import { as, didOfPerson, newMessage, own, recipient } from './_people.ts'

/** Mallory is the mediator of ben. */
const hop: Hop = { next: didOfPerson('ben'), did: didOfPerson('mallory'), recipient: recipient('mallory') }
const inner = () => packAuthcrypt(newMessage(), { sender: own('anna'), recipients: [recipient('ben')] })

test('a mediator can read only the next recipient, and the forward does not contain the sender', async () => {
  const envelope = inner()
  const opened = await unpack(wrapForward(envelope, [hop], randomUUID), as('mallory'))
  expect(opened).toMatchObject({ authenticated: false, anonymous: true })
  const { message } = opened
  expect(Object.keys(message).toSorted()).toEqual(['attachments', 'body', 'id', 'to', 'typ', 'type'])
  expect(message).toMatchObject({
    type: forwardType,
    to: [didOfPerson('mallory')],
    body: { next: didOfPerson('ben') },
  })
  expect(message.attachments).toEqual([{ id: expect.any(String), data: { json: JSON.parse(envelope) } }])
  expect(readForward(message)).toEqual({ next: didOfPerson('ben'), envelopes: [JSON.parse(envelope)] })
  expect(JSON.stringify(message)).not.toContain('a table for two')
})

test('a forward has the header of the Cloud Agent’s', () => {
  const { protected: header } = JSON.parse(wrapForward(inner(), [hop], randomUUID)) as { protected: string }
  const members = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, string>
  expect(Object.keys(members)).toEqual(['epk', 'apv', 'enc', 'alg'])
  expect(members).toMatchObject({ enc: 'XC20P', alg: 'ECDH-ES+A256KW' })
})

test('without a mediator the envelope is not wrapped', () => {
  const envelope = inner()
  expect(wrapForward(envelope, [], randomUUID)).toBe(envelope)
})

test('with two mediators the last one gets the outer forward, and each can read only the next hop', async () => {
  const outer: Hop = { next: didOfPerson('mallory'), did: didOfPerson('anna'), recipient: recipient('anna') }
  const first = await unpack(wrapForward(inner(), [hop, outer], randomUUID), as('anna'))
  expect(readForward(first.message).next).toBe(didOfPerson('mallory'))
  const second = await unpack(JSON.stringify(readForward(first.message).envelopes[0]), as('mallory'))
  expect(readForward(second.message).next).toBe(didOfPerson('ben'))
  const last = await unpack(JSON.stringify(readForward(second.message).envelopes[0]), as('ben'))
  expect(last).toMatchObject({ message: newMessage(), authenticated: true })
})

test('didcomm-node reads this agent’s forward, and unpacks the envelope in it', async () => {
  const wrapped = wrapForward(inner(), [hop], randomUUID)
  const [theirs, metadata] = await Message.unpack(
    wrapped,
    resolver,
    secretsOf([recipient('mallory').kid]),
    {},
  )
  expect(metadata).toMatchObject({ anonymous_sender: true, authenticated: false })
  expect(theirs.try_parse_forward()).toBeTruthy()
  const { body, attachments } = theirs.as_value() as {
    body: unknown
    attachments: { data: { json: unknown } }[]
  }
  expect(body).toEqual({ next: didOfPerson('ben') })
  const held = secretsOf([recipient('ben').kid])
  const [letterThere] = await Message.unpack(JSON.stringify(attachments[0]!.data.json), resolver, held, {})
  expect(letterThere.as_value()).toEqual(newMessage())
})

test('this agent reads didcomm-node’s forward', async () => {
  const envelope = inner()
  const keys = [recipient('mallory').kid]
  const wrapped = await Message.wrap_in_forward(
    envelope,
    {},
    didOfPerson('ben'),
    keys,
    'Xc20pEcdhEsA256kw',
    resolver,
  )
  const { message } = await unpack(wrapped, as('mallory'))
  expect(message.type).toBe(forwardType)
  expect(readForward(message)).toEqual({ next: didOfPerson('ben'), envelopes: [JSON.parse(envelope)] })
})

test.each(['json', 'base64', 'base64url'] as const)('an envelope that is attached as %s is read', (form) => {
  const envelope: unknown = JSON.parse(inner())
  const data =
    form === 'json' ? { json: envelope } : { base64: Buffer.from(JSON.stringify(envelope)).toString(form) }
  expect(
    readForward({ id: '1', type: forwardType, body: { next: 'did:example:ben' }, attachments: [{ data }] })
      .envelopes,
  ).toEqual([envelope])
})

test.each([
  ['nothing', {}],
  ['a number', { next: 1 }],
  ['an empty text', { next: '' }],
  ['a text that is too long', { next: 'x'.repeat(5_000) }],
])('a forward to %s is refused', (_name, body) => {
  expect(() => readForward({ id: '1', type: forwardType, body, attachments: [] })).toThrow(/next/)
})
