/** Diagnostic notation (RFC 8949 §8). */
import { expect, test } from 'vitest'
import { fromHex } from '../../../src/foundation/bytes.ts'
import { diagnose } from '../../../src/foundation/cbor/index.ts'

test.each([
  ['00', '0'],
  ['3bffffffffffffffff', '-18446744073709551616'],
  ['fb3ff0000000000000', '1.0'],
  ['f93e00', '1.5'],
  ['f98000', '-0.0'],
  ['f97c00', 'Infinity'],
  ['f97e00', 'NaN'],
  ['f4', 'false'],
  ['f6', 'null'],
  ['f7', 'undefined'],
  ['4401020304', "h'01020304'"],
  ['62225c', '"\\"\\\\"'],
  ['80', '[]'],
  ['bfff', '{_ }'],
  ['c11a514b67b0', '1(1363896240)'],
])('%s is %s', (hex, text) => {
  expect(diagnose(fromHex(hex))).toBe(text)
})

/** An array of a map with embedded CBOR, of an endless array, and of a tag 24 that holds no CBOR. */
const nested = '83a20161616162d81844a10181019f01fb3ff8000000000000ffd81842ffff'

test('members have lines, and the content of tag 24 is shown', () => {
  expect(diagnose(fromHex(nested))).toMatchInlineSnapshot(`
    "[
      {
        1: "a",
        "b": 24(<<
          {
            1: [
              1
            ]
          }
        >>)
      },
      [_
        1,
        1.5
      ],
      24(h'ffff')
    ]"
  `)
})

test('each line can have the offset of its item', () => {
  expect(diagnose(fromHex(nested), { offsets: true })).toMatchInlineSnapshot(`
    " 0  [
     1    {
     2      1: "a",
     5      "b": 24(<<
    10        {
    11          1: [
    13            1
                ]
              }
            >>)
          },
    14    [_
    15      1,
    16      1.5
          ],
    26    24(h'ffff')
        ]"
  `)
})

test.each([
  ['a map', '43a10126', '<<\n  {\n    1: -7\n  }\n>>'],
  ['tag 24', '44d81841a0', '<<\n  24(<<\n    {}\n  >>)\n>>'],
  ['no map', '43010203', "h'010203'"],
  ['an empty map', '41a0', "h'a0'"],
  ['a map that ends early', '42a101', "h'a101'"],
])('a byte string with %s is opened only if its content is for people', (_, hex, text) => {
  expect(diagnose(fromHex(hex))).toBe(text)
})

test('byte strings in byte strings are opened to a limit', () => {
  const nested = (depth: number): string => (depth === 0 ? '43a10126' : wrap(nested(depth - 1)))
  const wrap = (hex: string) => `d81858${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`
  expect(diagnose(fromHex(nested(20))).split('<<')).toHaveLength(9)
})

test('long byte strings are cut', () => {
  expect(diagnose(fromHex(`5828${'ab'.repeat(40)}`), { maxBytes: 4 })).toBe("h'abababab…' /40 bytes/")
})

test('what cannot be decoded is refused', () => {
  expect(() => diagnose(fromHex('8201'))).toThrow('an array of 2, for which 1 bytes are left, at byte 0')
})
