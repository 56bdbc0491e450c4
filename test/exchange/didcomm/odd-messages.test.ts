/** DIDComm messages and invitations of other software that are odd, and what is made of them. */
import { describe, expect, test } from 'vitest'
import { expiresAtMs, toMessage } from '../../../src/exchange/didcomm/message.ts'
import { parseInvitation } from '../../../src/exchange/didcomm/invitation.ts'
import { newMessage } from './_people.ts'

const read = (changes: object) => toMessage({ ...newMessage(), ...changes })
const oob = (invitation: object) => Buffer.from(JSON.stringify(invitation)).toString('base64url')
const invitation = {
  id: 'an-invitation',
  type: 'https://didcomm.org/out-of-band/2.0/invitation',
  from: 'did:example:mediator',
}

// decentralized-identity/veramo, issue 1499: its messages have times as ISO 8601, and specification and other
// agents seconds.
describe('times in ISO 8601', () => {
  test('of a message are read', () => {
    const message = read({
      created_time: '2026-07-29T10:00:00.000Z',
      expires_time: '2026-07-29T10:00:30.500Z',
    })
    expect([message.created_time, message.expires_time]).toEqual([1_785_319_200, 1_785_319_230.5])
    expect(expiresAtMs(message)).toBe(1_785_319_260_500)
  })

  test('of an invitation are read', () => {
    const made = {
      ...invitation,
      created_time: '2026-07-29T10:00:00Z',
      expires_time: '2026-07-29T11:00:00+01:00',
    }
    expect(parseInvitation(oob(made)).invitation).toMatchObject({
      created_time: 1_785_319_200,
      expires_time: 1_785_319_200,
    })
  })

  test('that only inform are ignored in another form, and an end in another form is refused', () => {
    expect(read({ created_time: 'yesterday' })).not.toHaveProperty('created_time')
    expect(() => read({ expires_time: 'tomorrow' })).toThrow('expires_time')
  })
})

// openwallet-foundation/acapy, issue 2583: the invitation of Traction and other agents of DIDComm v1.
describe('an invitation of DIDComm v1', () => {
  const aries = {
    '@type': 'https://didcomm.org/out-of-band/1.1/invitation',
    '@id': '9840355a-3f2b-4453-949e-a5e1d0866aa7',
    label: 'Invitation to Barry',
    handshake_protocols: ['https://didcomm.org/didexchange/1.0', 'https://didcomm.org/connections/1.0'],
    services: ['did:sov:9KnKyNpVxTPUvUvMiPqTzY'],
  }

  test.each(['_oob', 'oob', 'c_i', 'd_m'])('in the parameter %s is named', (parameter) => {
    expect(() => parseInvitation(`https://agent.example/?${parameter}=${oob(aries)}`)).toThrow(
      'of DIDComm v1 (https://didcomm.org/out-of-band/1.1/invitation)',
    )
  })
})
