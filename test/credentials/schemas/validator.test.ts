import { describe, expect, test } from 'vitest'
import { compileSchema } from '../../../src/credentials/schemas/validator.ts'

const isValid = (value: unknown, schema: object) => compileSchema({ ...schema })(value).length === 0

describe('keywords of JSON Schema 2020-12 mean what they mean', () => {
  const tree = {
    $id: 'https://example.org/tree',
    $dynamicAnchor: 'node',
    properties: { n: { type: 'integer' }, kids: { items: { $dynamicRef: '#node' } } },
  }
  test.each<[string, object, unknown[], unknown[]]>([
    [
      '$ref and $defs',
      { $defs: { a: { type: 'integer' } }, properties: { x: { $ref: '#/$defs/a' } } },
      [{ x: 1 }],
      [{ x: 'a' }],
    ],
    [
      '$ref with siblings',
      { $defs: { a: { type: 'integer' } }, properties: { x: { $ref: '#/$defs/a', minimum: 2 } } },
      [{ x: 2 }],
      [{ x: 1 }],
    ],
    [
      '$ref to the whole',
      { properties: { x: { $ref: '#' } }, additionalProperties: false },
      [{ x: { x: {} } }],
      [{ x: { y: 1 } }],
    ],
    [
      '$anchor',
      { $defs: { a: { $anchor: 'here', type: 'integer' } }, properties: { x: { $ref: '#here' } } },
      [{ x: 1 }],
      [{ x: 'a' }],
    ],
    ['$dynamicRef', tree, [{ kids: [{ n: 1 }] }], [{ kids: [{ kids: [{ n: 'x' }] }] }]],
    [
      'allOf, anyOf, oneOf, not',
      {
        allOf: [{ type: 'integer' }],
        anyOf: [{ minimum: 5 }, { maximum: 1 }],
        oneOf: [{ const: 0 }, { minimum: 0 }],
        not: { const: 7 },
      },
      [5],
      [0, 3, 7, -1],
    ],
    [
      'if, then, else',
      JSON.parse('{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}}'),
      ['ab', 2],
      ['a', 1],
    ],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }, [{}, { a: 1, b: 1 }], [{ a: 1 }]],
    ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, [{}, { a: 1, b: 1 }], [{ a: 1 }]],
    [
      'patternProperties',
      {
        patternProperties: { '^a': { type: 'integer' }, '^b': { type: 'string' } },
        additionalProperties: false,
      },
      [{ a1: 1, b1: '' }],
      [{ a1: '' }, { b1: 1 }, { c: 1 }],
    ],
    ['propertyNames', { propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
    [
      'unevaluatedProperties',
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      [{ a: 1 }],
      [{ b: 1 }],
    ],
    [
      'prefixItems and items',
      { prefixItems: [{ type: 'string' }], items: { type: 'integer' } },
      [['a', 1]],
      [[1], ['a', 'b']],
    ],
    ['contains', { contains: { const: 1 }, maxContains: 1 }, [[1, 2]], [[2], [1, 1]]],
    [
      'uniqueItems',
      { uniqueItems: true },
      [[1, '1', { a: 1 }, { a: 2 }, [1], null]],
      [
        [1, 1],
        [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
      ],
    ],
    [
      'const and enum of objects',
      { properties: { x: { const: { properties: { a: 1 } } }, y: { enum: [{ a: [1] }] } } },
      [{ x: { properties: { a: 1 } }, y: { a: [1] } }],
      [{ x: { properties: {} } }, { y: { a: [2] } }],
    ],
    [
      'properties named like keywords',
      {
        properties: {
          enum: { type: 'integer' },
          const: { type: 'integer' },
          properties: { type: 'integer' },
        },
      },
      [{ enum: 1, const: 1, properties: 1 }],
      [{ enum: '' }, { const: '' }, { properties: '' }],
    ],
    [
      'a reference to a property named const',
      { properties: { const: { type: 'integer' }, x: { $ref: '#/properties/const' } } },
      [{ x: 1 }],
      [{ x: '' }],
    ],
    ['an unknown format', { format: 'shoe-size' }, ['x'], []],
    ['a pattern anywhere in the text', { pattern: 'b+' }, ['abc'], ['ac']],
    [
      'a pattern with letters of all languages',
      { pattern: '^\\p{Lu}\\p{Ll}+ \\d{2}\\u002f\\w$' },
      ['Élan 12/x'],
      ['élan 12/x'],
    ],
  ])('%s', (_, schema, valid, invalid) => {
    for (const claims of valid) expect(isValid(claims, schema), JSON.stringify(claims)).toBe(true)
    for (const claims of invalid) expect(isValid(claims, schema), JSON.stringify(claims)).toBe(false)
  })

  test.each([
    ['date-time', '2020-11-13T20:20:39Z', '2020-13-13T20:20:39Z'],
    ['date', '2024-02-29', '2023-02-29'],
    ['time', '20:20:39Z', '25:00:00Z'],
    ['duration', 'P1Y2M', '1Y'],
    ['email', 'a@b.example', 'a@'],
    ['hostname', 'a.example', '-a.example'],
    ['ipv4', '10.0.0.1', '10.0.0.256'],
    ['ipv6', '::1', ':::1'],
    ['uri', 'https://a.example/b', 'a b'],
    ['uuid', 'f2bfbf78-8bd6-4cc6-8b39-b3a25e01e8ea', 'f2bfbf78'],
  ])('format %s', (format, good, bad) => {
    expect(isValid(good, { format })).toBe(true)
    expect(isValid(bad, { format })).toBe(false)
    expect(isValid(`${good}${' '.repeat(5_000)}`, { format })).toBe(false)
  })

  test('two schemas with one $id are two schemas', () => {
    expect(isValid({ a: 1 }, { $id: 'https://example.org/s', properties: { a: { type: 'integer' } } })).toBe(
      true,
    )
    expect(isValid({ a: 1 }, { $id: 'https://example.org/s', properties: { a: { type: 'string' } } })).toBe(
      false,
    )
  })
})
