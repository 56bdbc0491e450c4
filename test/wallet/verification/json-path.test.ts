/** JSONPaths in presentation definitions: which are accepted. The tests of json-p3 cover RFC 9535 itself. */
import { describe, expect, test } from 'vitest'
import { compilePath } from '../../../src/wallet/verification/json-path.ts'

const value = JSON.parse(
  '{"a":{"b":[1,{"c":null}]},"type":["V","W"],"@context":"x","__proto__":{"d":1},"zero":0,"x..y..z":"dots","deep":{"c":2}}',
) as unknown

describe('the first value is found', () => {
  test.each([
    ['$', value],
    ['$.a.b[0]', 1],
    ["$['a']['b'][1]", { c: null }],
    ['$.a.b[1].c', null],
    ['$.zero', 0],
    ['$.type[*]', 'V'],
    ['$.type[-1]', 'W'],
    ['$.type[1:]', 'W'],
    ["$['@context']", 'x'],
    ['$..c', null],
    ["$['x..y..z']", 'dots'],
    ["$['nothing','zero']", 0],
    ['$.__proto__.d', 1],
  ])('%s', (path, expected) => {
    expect(compilePath(path)(value)).toMatchObject({ value: expected })
  })
})

describe('nothing is found', () => {
  test.each([
    '$.b',
    '$.a.b[2]',
    '$.constructor',
    '$.a.toString',
    '$.type.length',
    '$..nothing',
    '$.type.V',
    '$.zero.x',
  ])('%s', (path) => {
    expect(compilePath(path)(value)).toBeUndefined()
  })
})

describe('a path is refused', () => {
  test.each([
    ['', /is not a JSONPath/],
    ['a.b', /is not a JSONPath/],
    ['@.a', /is not a JSONPath/],
    ['$.', /is not a JSONPath/],
    ['$..', /is not a JSONPath/],
    ['$.a b', /is not a JSONPath/],
    ['$.a[', /is not a JSONPath/],
    ['$[99999999999999999999]', /is not a JSONPath/],
    ['$.a[(@.length-1)]', /is not a JSONPath/],
    ['$.type[?@=="V"]', /filter/],
    ['$[?match(@.a, "(a+)+")]', /filter/],
    ['$.a[0,?@.b]', /filter/],
    ['$..a..b', /more than once/],
    ["$..['a'].b..['c']", /more than once/],
    [`$${'[*,*]'.repeat(3)}`, /branches/],
    [`$${'.a'.repeat(13)}`, /branches/],
    [`$.${'a'.repeat(500)}`, /more than 500/],
    ['$'.padEnd(400, '['), /is not a JSONPath/],
    [`$[?${'('.repeat(400)}`, /is not a JSONPath/],
  ])('%s', (path, reason) => {
    expect(() => compilePath(path)).toThrow(SyntaxError)
    expect(() => compilePath(path)).toThrow(reason)
  })
})
