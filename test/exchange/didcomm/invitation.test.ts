import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { character } from '../../support/character.ts'
import {
  createInvitation,
  parseInvitation,
  toInvitationUrl,
  toOob,
} from '../../../src/exchange/didcomm/invitation.ts'

const base = 'https://my.domain.com/path'
const terms = {
  id: '2b5f7a30-6d3e-4d53-9c1c-6f7c7b1f3a10',
  from: 'did:peer:2.Ez6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc',
}
const parsingError = { type: 'error:ConnectionServiceError:InvitationParsingError', status: 400 }
const encode = (json: unknown) =>
  Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)).toString('base64url')

describe('an invitation of this agent', () => {
  test('for a connection has the members of the Cloud Agent’s only', () => {
    const type = 'https://didcomm.org/out-of-band/2.0/invitation'
    expect(JSON.stringify(createInvitation(terms))).toBe(
      JSON.stringify({ id: terms.id, type, from: terms.from, body: { accept: [] } }),
    )
    const { body } = createInvitation({ ...terms, goalCode: 'issue-vc', goal: 'a degree' })
    expect(JSON.stringify(body)).toBe('{"goal_code":"issue-vc","goal":"a degree","accept":[]}')
  })

  test('for an offer contains it, with its creation and expiry times', () => {
    const offer = {
      id: '1',
      media_type: 'application/json',
      data: { json: { id: terms.id, type: 'offer', body: {}, attachments: [] } },
    }
    const invitation = createInvitation({
      ...terms,
      accept: ['didcomm/v2'],
      createdTime: 100,
      expiresTime: 400,
      attachments: [offer],
    })
    expect(invitation).toMatchObject({
      body: { accept: ['didcomm/v2'] },
      created_time: 100,
      expires_time: 400,
      attachments: [offer],
    })
    expect(parseInvitation(toInvitationUrl(base, invitation)).invitation).toEqual(invitation)
  })

  test('survives a round trip through its URL', () => {
    const invitation = createInvitation({ ...terms, goal: 'für >alle? ~é\u007f\u{1F600}' })
    const url = toInvitationUrl(base, invitation)
    const parsed = parseInvitation(url)
    expect(parsed.invitation).toEqual(invitation)
    expect(toInvitationUrl(base, parsed.oob)).toBe(url)
  })

  test('is the same in both base64 alphabets', () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), fc.string({ unit: 'grapheme' }), (goal, goalCode) => {
        const invitation = createInvitation({ ...terms, goal, goalCode })
        const oob = toOob(invitation)
        expect(oob).toMatch(/^[A-Za-z0-9]+={0,2}$/)
        expect(oob.length % 4).toBe(0)
        expect(parseInvitation(oob).invitation).toEqual(invitation)
      }),
      { numRuns: 500, seed: 6 },
    )
    for (let code = 0; code < 0x300; code++) {
      for (const pad of ['', 'a', 'aa'])
        expect(
          toOob(createInvitation({ ...terms, goal: pad + String.fromCharCode(code).repeat(3) })),
        ).not.toMatch(/[-_+/]/)
    }
  })
})

describe('an invitation of a peer', () => {
  // Written without escapes, so that the two alphabets differ in it.
  const invitation = {
    id: '1',
    type: 'https://didcomm.org/out-of-band/2.0/invitation',
    from: terms.from,
    body: { goal: '~~~???>>>ÿÿÿ', accept: [] },
  }
  const urlSafe = encode(invitation)
  const padded = urlSafe + '='.repeat((4 - (urlSafe.length % 4)) % 4)
  const standard = padded.replaceAll('-', '+').replaceAll('_', '/')

  test('the two alphabets differ in the example', () => {
    expect(standard).not.toBe(padded)
    expect(padded).not.toBe(urlSafe)
  })

  test.each([
    ['URL-safe, padded', padded],
    ['URL-safe, unpadded', urlSafe],
    ['standard, padded', standard],
    ['standard, unpadded', standard.replace(/=+$/, '')],
    ['surrounded by space', ` ${padded}\n`],
    ['in a URL', `${base}?_oob=${padded}`],
    ['in a URL, unpadded', `${base}?_oob=${urlSafe}`],
    ['in a URL, standard', `${base}?_oob=${standard}`],
    ['in a URL, percent-encoded', `${base}?_oob=${encodeURIComponent(standard)}`],
    ['in a URL with other parameters', `https://wallet.example/?a=1&_oob=${padded}&b=2#top`],
    ['as a query', `_oob=${padded}`],
    ['with another scheme', `didcomm://invite?_oob=${padded}`],
  ])('%s, gives the same invitation and the same text', (_name, text) => {
    expect(parseInvitation(text)).toEqual({ invitation, oob: padded })
  })

  test('may omit accept, contain null and unknown members, and have a later minor version', () => {
    const odd = {
      ...invitation,
      type: 'https://didcomm.org/out-of-band/2.1/invitation',
      label: 'x',
      created_time: null,
      body: { goal: null, x: 1 },
    }
    const { created_time: _time, ...rest } = odd
    expect(parseInvitation(encode(odd)).invitation).toEqual({ ...rest, body: { x: 1, accept: [] } })
    const { body: _body, ...bodiless } = invitation
    expect(parseInvitation(encode(bodiless)).invitation.body).toEqual({ accept: [] })
  })

  test.each([
    ['nothing', ''],
    ['a word', 'hello'],
    ['invalid base64', '%%%'],
    ['a URL without _oob', 'https://example.org/?oob=abc'],
    ['a URL with an empty _oob', `${base}?_oob=`],
    ['a URL with a broken percent sign', `${base}?_oob=%E0%A4%A`],
    ['base64 of text that is not JSON', encode('hello there')],
    ['base64 of an array', encode([])],
    ['base64 of null', encode('null')],
    ['base64 of bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')],
    ['JSON that is not base64', JSON.stringify(invitation)],
    ['no id', encode({ ...invitation, id: undefined })],
    ['an endless id', encode({ ...invitation, id: 'x'.repeat(1_025) })],
    ['an empty id', encode({ ...invitation, id: '' })],
    ['another type', encode({ ...invitation, type: 'https://didcomm.org/out-of-band/1.0/invitation' })],
    ['no from', encode({ ...invitation, from: undefined })],
    ['a from that is not a DID', encode({ ...invitation, from: 'ben' })],
    ['an accept of numbers', encode({ ...invitation, body: { accept: [1] } })],
    ['attachments without content', encode({ ...invitation, attachments: [{ id: '1', data: {} }] })],
    ['text of a day', encode({ ...invitation, expires_time: 'tomorrow' })],
    ['deep nesting', encode(`${'['.repeat(1_000)}${']'.repeat(1_000)}`)],
    ['too much', encode({ ...invitation, pad: 'x'.repeat(262_144) })],
  ])('that is %s is refused', (_name, text) => {
    expect(() => parseInvitation(text)).toThrow(expect.objectContaining(parsingError))
  })

  test('with the id of something else is refused with the reason', () => {
    expect(() => parseInvitation('01a20314-eb8d-73b1-a3a0-ceab51839810')).toThrow(
      'The invitation cannot be read: it is neither the base64 of an invitation nor a URL with _oob=',
    )
  })

  test('any text is either accepted or refused by that problem', () => {
    const texts = fc.oneof(
      fc.string({ unit: character }),
      fc.base64String(),
      fc.json().map(encode),
      fc.webUrl({ withQueryParameters: true }),
    )
    fc.assert(
      fc.property(texts, (text) => {
        expect(() => parseInvitation(text)).toThrow(expect.objectContaining(parsingError))
      }),
      { numRuns: 300, seed: 7 },
    )
  })
})
