import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { utf8 } from '../../src/foundation/bytes.ts'
import { hasPrototypeMember, JsonError, jsonLimits, parseJson } from '../../src/foundation/json.ts'

const { depth, values, name } = jsonLimits
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('parseJson reads any value that JSON.stringify writes, as text and as UTF-8', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const json = JSON.stringify(value)
      expect(parseJson(json)).toEqual(JSON.parse(json))
      expect(parseJson(utf8(json))).toEqual(JSON.parse(json))
    }),
    { seed: 1 },
  )
})

test.each<[string, string]>([
  ['the deepest nesting', nested(depth)],
  ['brackets and commas in strings', JSON.stringify(['[{,'.repeat(values)])],
  ['an escaped quote in a string', String.raw`["\"${'{'.repeat(100)}"]`],
  ['many values', `[${'1,'.repeat(values - 3)}1]`],
  ['a long string', JSON.stringify({ text: 'x'.repeat(1_000_000) })],
  ['a long string of escapes', JSON.stringify({ a: '"'.repeat(200_000), b: '\\'.repeat(200_000), c: '\\"' })],
  ['a long name', JSON.stringify({ ['x'.repeat(name)]: 1 })],
  ['a long string before the colon of the next member', JSON.stringify({ a: 'x'.repeat(2_000), b: 1 })],
])('parseJson accepts %s', (_what, json) => {
  expect(parseJson(json)).toEqual(JSON.parse(json))
})

test.each<[string, string]>([
  [nested(depth + 1), `is nested deeper than ${depth} levels`],
  ['[{'.repeat(depth / 2) + '[', `is nested deeper than ${depth} levels`],
  ['{"a":'.repeat(depth + 1) + '1' + '}'.repeat(depth + 1), `is nested deeper than ${depth} levels`],
  ['['.repeat(1_000_000), `is nested deeper than ${depth} levels`],
  ['[],'.repeat(values), `has more than ${values} values`],
  [`[${'1,'.repeat(values)}1]`, `has more than ${values} values`],
  [JSON.stringify({ a: { ['x'.repeat(name + 1)]: 1 } }), `has a name of more than ${name} characters`],
  ['', 'is not JSON: Unexpected end of JSON input'],
  ['"secret', 'is not JSON'],
  ['{}{}', 'is not JSON'],
  ['{}//', 'is not JSON'],
  ['\u{feff}{}', 'is not JSON'],
])('parseJson refuses a text and names the reason (%#)', (json, reason) => {
  expect(() => parseJson(json)).toThrow(JsonError)
  expect(() => parseJson(json)).toThrow(reason)
  expect(() => parseJson(json)).not.toThrow('secret')
})

describe('names', () => {
  test.each([
    '{"a":1,"a":2}',
    '{"a":1,"b":{"c":1,"c":1}}',
    '[{"a":1,"a":1}]',
    String.raw`{"a":1,"\u0061":2}`,
    String.raw`{"\"":1,"\u0022":2}`,
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"a":{"x":1},"b":[{"y":1}],"a":2}',
  ])('are refused twice in one object: %s', (json) => {
    expect(JSON.parse(json)).toBeDefined()
    expect(() => parseJson(json)).toThrow('names a member twice')
  })

  test.each([
    '{}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":"a","b":"b"}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    String.raw`{"a\\":1,"a":":"}`,
    '{"a":["a","a"],"b":{"a":1}}',
    '[1,{"a":1},[{"b":{"c":":"}}]]',
    JSON.stringify({ 'a\\\\': 1, 'b\\': '\\"', c: '":"', '"': ':', '': '' }),
    String.raw`["\\\\",{"\\":":"}]`,
    JSON.stringify({ 'a:b': '"c":', d: ['{"e":1}'] }),
    '{"__proto__":{"a":1},"0":2}',
  ])('are accepted once in each object, and in strings: %s', (json) => {
    expect(parseJson(json)).toEqual(JSON.parse(json))
  })
})

test.each([
  ['a lone continuation byte', Buffer.from([0x22, 0x80, 0x22])],
  ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d])],
  ['UTF-16', Buffer.from('{}', 'utf16le')],
  ['no bytes', Buffer.alloc(0)],
])('parseJson refuses %s', (_, bytes) => {
  expect(() => parseJson(bytes)).toThrow('is not JSON')
})

test('hasPrototypeMember finds the member at any level', () => {
  expect(hasPrototypeMember(JSON.parse('[{"a":{"__proto__":1}}]'))).toBe(true)
  expect(hasPrototypeMember({ a: [{ proto: 1 }] })).toBe(false)
})
