import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { parseJson } from '../../src/credentials/json.ts'

const parse = (text: string) => parseJson(utf8(text))

describe('parseJson', () => {
  test('reads what JSON.stringify writes, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect(parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { seed: 1 },
    )
  })

  test.each([
    '{"a":1,"a":2}',
    '{"a":1,"b":{"c":1,"c":1}}',
    '[{"a":1,"a":1}]',
    String.raw`{"a":1,"\u0061":2}`,
    String.raw`{"\"":1,"\u0022":2}`,
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"a":{"x":1},"b":[{"y":1}],"a":2}',
  ])('refuses a name given twice in one object: %s', (text) => {
    expect(JSON.parse(text)).toBeDefined()
    expect(() => parse(text)).toThrow('given twice')
  })

  test.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":"a","b":"b"}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    String.raw`{"a\\":1,"a":":"}`,
    '{"a":["a","a"],"b":{"a":1}}',
  ])('takes a name again in another object, and in text: %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  test('takes 64 levels and refuses 65', () => {
    expect(parse('['.repeat(64) + ']'.repeat(64))).toBeDefined()
    expect(() => parse('['.repeat(65) + ']'.repeat(65))).toThrow('deeper')
    expect(() => parse('{"a":'.repeat(65) + '1' + '}'.repeat(65))).toThrow('deeper')
    expect(() => parse('['.repeat(400_000) + ']'.repeat(400_000))).toThrow('deeper')
  })

  test.each([
    ['a lone continuation byte', Buffer.from([0x22, 0x80, 0x22])],
    ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d])],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['nothing', Buffer.alloc(0)],
    ['two values', Buffer.from('{}{}')],
    ['a comment', Buffer.from('{}//')],
  ])('refuses %s', (_, bytes) => {
    expect(() => parseJson(bytes)).toThrow()
  })

  test('reads a string as long as a token may be', () => {
    const text = String.raw`\n`.repeat(100_000) + 'x'.repeat(800_000)
    expect(parse(`{"a":"${text}"}`)).toEqual({ a: '\n'.repeat(100_000) + 'x'.repeat(800_000) })
  })
})
