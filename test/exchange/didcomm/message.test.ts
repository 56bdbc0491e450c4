import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import {
  type Attachment,
  attachmentBytes,
  attachmentJson,
  base64Attachment,
  jsonAttachment,
  parseMessage,
  toMessage,
  writeMessage,
} from '../../../src/exchange/didcomm/message.ts'
import { newMessage } from './_people.ts'

const unpacking = { type: 'error:DIDCommControllerError:UnpackingFailed' }
const read = (changes: object) => parseMessage(JSON.stringify({ ...newMessage(), ...changes }))

describe('a plaintext message', () => {
  test('keeps unknown headers', () => {
    expect(read({ return_route: 'all', lang: 'de' })).toEqual({
      ...newMessage(),
      return_route: 'all',
      lang: 'de',
    })
  })

  test('reads a null header and a missing body as absent', () => {
    const { body: _body, ...bare } = newMessage()
    expect(toMessage({ ...bare, thid: null, pthid: null, expires_time: null, attachments: null })).toEqual({
      ...bare,
      body: {},
    })
  })

  test('reads a string in to, as embedded messages have it', () => {
    expect(read({ to: 'did:example:ben' }).to).toEqual(['did:example:ben'])
  })

  test.each([
    ['id', undefined],
    ['id', ''],
    ['id', 7],
    ['id', 'x'.repeat(1_025)],
    ['type', undefined],
    ['typ', 'application/didcomm-signed+json'],
    ['typ', 'application/didcomm-plain+json-unknown'],
    ['from', 7],
    ['to', [7]],
    ['thid', 7],
    ['expires_time', '1516269022'],
    ['body', []],
    ['body', 'text'],
    ['body', 7],
    ['attachments', 'text'],
    ['attachments', [7]],
    ['attachments', [{}]],
    ['attachments', [{ data: null }]],
    ['attachments', [{ data: {} }]],
    ['attachments', [{ data: 'text' }]],
    ['attachments', [{ data: { base64: null, json: null } }]],
    ['attachments', [{ data: { links: ['https://example.org'] } }]],
    ['attachments', [{ id: 7, data: { json: {} } }]],
  ])('with a wrong %s, %j, is refused by the name of the header', (header, value) => {
    expect(() => read({ [header]: value })).toThrow(
      expect.objectContaining({ ...unpacking, message: expect.stringContaining(header) as string }),
    )
  })

  test.each(['', 'aaaa', '[]', 'null', '7', '"text"', '{'])('that is %j is refused', (text) => {
    expect(() => parseMessage(text)).toThrow(expect.objectContaining(unpacking))
  })

  test('that is not UTF-8 is refused', () => {
    const bytes = Buffer.from(JSON.stringify(newMessage()))
    bytes[bytes.indexOf('table')] = 0xff
    expect(() => parseMessage(bytes)).toThrow(Problem)
  })

  test('with members named as those of Object.prototype changes no prototype and keeps its body', () => {
    const body =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"toString":3,"hasOwnProperty":4}'
    const message = parseMessage(
      `{"id":"1","type":"t","__proto__":{"polluted":5,"from":"did:example:anna"},"constructor":6,"body":${body}}`,
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype)
    expect(Object.getPrototypeOf(message.body)).toBe(Object.prototype)
    expect(message.from).toBeUndefined()
    expect(JSON.stringify(message.body)).toBe(body)
    expect(JSON.parse(Buffer.from(writeMessage(message)).toString())).toMatchObject({
      body: JSON.parse(body) as object,
    })
  })
})

describe('an attachment', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => 255 - i)
  const base64 = Buffer.from(bytes).toString('base64')
  const base64url = Buffer.from(bytes).toString('base64url')

  test.each([
    ['standard, padded', base64],
    ['standard, unpadded', base64.replace(/=+$/, '')],
    ['URL-safe, padded', `${base64url}==`],
    ['URL-safe, unpadded', base64url],
  ])('of base64, %s, is read', (_name, text) => {
    expect(Buffer.from(attachmentBytes({ data: { base64: text } }))).toEqual(Buffer.from(bytes))
  })

  test('without base64, or with links only, has no bytes', () => {
    const wrong: Attachment[] = [
      { id: 'a', data: { base64: 'A' } },
      { data: { base64: '%%%%' } },
      { id: 'a', data: { base64: 'AA AA' } },
      { data: { links: ['https://example.org'], hash: 'x' } },
    ]
    for (const attachment of wrong)
      expect(() => attachmentBytes(attachment)).toThrow(expect.objectContaining(unpacking))
  })

  test('with JSON has the same value directly and as base64, beside null members', () => {
    const value = { a: [1, 'é'] }
    const inside = Buffer.from(JSON.stringify(value)).toString('base64')
    expect(attachmentJson({ data: { json: value, jws: null, hash: null } })).toEqual(value)
    expect(attachmentJson({ data: { base64: inside } })).toEqual(value)
    expect(Buffer.from(attachmentBytes({ data: { json: value } })).toString()).toBe(JSON.stringify(value))
  })

  test('with both base64 and json has one content for every reader', () => {
    const both: Attachment = { data: { base64: Buffer.from('{"a":1}').toString('base64'), json: { a: 2 } } }
    expect(attachmentJson(both)).toEqual({ a: 1 })
    expect(Buffer.from(attachmentBytes(both)).toString()).toBe('{"a":1}')
  })

  test.each([
    [Buffer.from('x'), 'the content of the attachment "a" is not JSON'],
    [Uint8Array.of(0x22, 0xff, 0x22), 'the content of the attachment "a" is not UTF-8'],
    [Buffer.from('['.repeat(70) + ']'.repeat(70)), 'the content of the attachment "a" is nested deeper'],
  ])('whose base64 is not JSON, not UTF-8, or too deep is refused as JSON', (content, reason) => {
    expect(() => attachmentJson(base64Attachment('a', content, 'f'))).toThrow(
      expect.objectContaining({ ...unpacking, message: expect.stringContaining(reason) }),
    )
  })

  test.each([
    [
      'YWJj\nZGVm',
      'data.base64 of the attachment without id has spaces or line breaks, which are not supported',
    ],
    ['*', 'data.base64 of the attachment without id is not base64'],
  ])('whose base64 is %j is refused with the reason', (base64, reason) => {
    expect(() => attachmentBytes({ data: { base64 } })).toThrow(
      expect.objectContaining({ ...unpacking, message: expect.stringContaining(reason) }),
    )
  })

  test('of this agent is padded base64url, with only the members that every peer knows', () => {
    expect(base64Attachment('1', bytes, 'prism/jwt')).toEqual({
      id: '1',
      data: { base64: `${base64url}==` },
      format: 'prism/jwt',
    })
    expect(base64Attachment('1', 'a.b', 'prism/jwt').data.base64).toBe('YS5i')
    expect(jsonAttachment('2', { x: null }, 'prism/jwt')).toEqual({
      id: '2',
      data: { json: { x: null } },
      format: 'prism/jwt',
    })
  })

  test('in the Cloud Agent’s form is read', () => {
    const { attachments } = read({
      attachments: [{ id: '1', data: { jws: null, hash: null, json: { options: {} } }, format: 'prism/jwt' }],
    })
    expect(attachmentJson(attachments![0]!)).toEqual({ options: {} })
  })
})
