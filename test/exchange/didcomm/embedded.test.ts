/** Messages attached to invitations. */
import { describe, expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createPeerDid } from '../../../src/did/peer.ts'
import {
  createInvitation,
  embedMessage,
  parseInvitation,
  readEmbedded,
  toOob,
} from '../../../src/exchange/didcomm/invitation.ts'
import { jsonAttachment, type Attachment } from '../../../src/exchange/didcomm/message.ts'

const newDid = () =>
  createPeerDid({
    keyAgreement: toPublic(generateKey('X25519')),
    authentication: toPublic(generateKey('Ed25519')),
    serviceUri: 'http://127.0.0.1:1/mailbox',
  })

const from = newDid()
const message = {
  id: 'a',
  type: 'https://didcomm.org/issue-credential/3.0/offer-credential',
  body: { goal_code: 'Offer Credential' },
  attachments: [jsonAttachment('c', { options: { challenge: 'x', domain: 'y' } }, 'prism/jwt')],
  thid: 't',
  from,
}
const written = (embedded: Attachment) => createInvitation({ id: 't', from, attachments: [embedded] })
/** The same invitation with another content of its attachment. */
const holding = (data: Attachment['data']) => parseInvitation(toOob(written({ id: 'b', data }))).invitation

describe('a message in an invitation', () => {
  test('has the members and order of the Cloud Agent’s: from as a string, no to, media types', () => {
    expect(JSON.stringify(embedMessage('b', message))).toBe(
      JSON.stringify({
        id: 'b',
        media_type: 'application/json',
        data: {
          json: {
            id: 'a',
            type: message.type,
            body: message.body,
            attachments: [
              {
                id: 'c',
                media_type: 'application/json',
                data: { json: { options: { challenge: 'x', domain: 'y' } } },
                format: 'prism/jwt',
              },
            ],
            thid: 't',
            from,
          },
        },
      }),
    )
  })

  test('is read from JSON, and from base64 in either alphabet, with or without padding', () => {
    const json = JSON.stringify({ ...message, body: { note: 'ÿÿÿ>>>???' } })
    const base64 = Buffer.from(json).toString('base64')
    expect(base64).toMatch(/[+/]/)
    const texts = [base64, base64.replace(/=+$/, ''), Buffer.from(json).toString('base64url')]
    const messages = [{ json: JSON.parse(json) }, ...texts.map((text) => ({ base64: text }))].map((data) =>
      readEmbedded(holding(data)),
    )
    for (const message of messages)
      expect(message).toMatchObject({ id: 'a', thid: 't', from, body: { note: 'ÿÿÿ>>>???' } })
  })

  test('is read with to in either form, with null members, and without from', () => {
    for (const more of [
      { to: 'did:peer:x' },
      { to: ['did:peer:x'] },
      { to: null, pthid: null },
      { from: undefined },
    ]) {
      expect(readEmbedded(holding({ json: { ...message, ...more } }))).toMatchObject({ type: message.type })
    }
  })

  test('is absent in an invitation to connect', () => {
    expect(readEmbedded(createInvitation({ id: 't', from }))).toBeUndefined()
    expect(readEmbedded(createInvitation({ id: 't', from, attachments: [] }))).toBeUndefined()
  })

  test.each([
    ['without attachments', { json: { ...message, attachments: undefined } }],
    ['with invalid attachments', { json: { ...message, attachments: [{ id: 'c' }] } }],
    ['without a type', { json: { ...message, type: undefined } }],
    ['without an id', { json: { ...message, id: undefined } }],
    ['whose body is a list', { json: { ...message, body: [] } }],
    ['from another DID', { json: { ...message, from: newDid() } }],
    ['from a text that is not a DID', { json: { ...message, from: 'alice' } }],
    ['that is a text', { json: 'offer' }],
    ['that is a list', { json: [message] }],
    ['that is not base64', { base64: 'no base64!' }],
    ['that is not base64 of JSON', { base64: 'AAAA' }],
    ['that is a link', { links: ['https://example.com'], hash: 'x' }],
  ])('%s is refused', (_, data) => {
    expect(() => readEmbedded(holding(data))).toThrow()
  })
})

test.each([-1, 1e300, -1e300, 8_640_000_000_001])(
  'an invitation that expires at %d, beyond any date, is refused',
  (expires_time) => {
    const text = toOob({ ...createInvitation({ id: 't', from }), expires_time })
    expect(() => parseInvitation(text)).toThrow(/expires_time/)
  },
)
