import { expect, test } from 'vitest'
import { countMembers, findExcess, inspectJson, jsonLimits } from '../../src/base/json-limits.ts'

const { depth, values, name } = jsonLimits

test.each<[string, string]>([
  ['nothing at all', ''],
  ['as deep as may be', '['.repeat(depth) + ']'.repeat(depth)],
  ['brackets and commas in texts', JSON.stringify(['[{,'.repeat(values)])],
  ['an escaped quote in a text', String.raw`["\"${'{'.repeat(100)}"]`],
  ['many values', `[${'1,'.repeat(values - 2)}1]`],
  ['a long text', JSON.stringify({ text: 'x'.repeat(1_000_000) })],
  ['a long name', JSON.stringify({ ['x'.repeat(name)]: 1 })],
  ['a long text before a colon in the next member', JSON.stringify({ a: 'x'.repeat(2_000), b: 1 })],
])('%s is within the limits', (_what, json) => {
  expect(findExcess(json)).toBeUndefined()
})

test.each<[string, string]>([
  ['[{'.repeat(depth / 2) + '[', `is nested deeper than ${depth} levels`],
  ['['.repeat(1_000_000), `is nested deeper than ${depth} levels`],
  ['[],'.repeat(values), `has more than ${values} values`],
  [`[${'1,'.repeat(values)}1]`, `has more than ${values} values`],
  [JSON.stringify({ a: { ['x'.repeat(name + 1)]: 1 } }), `has a name of more than ${name} characters`],
  ['"', ''],
])('what is over a limit is named (%#)', (json, excess) => {
  expect(findExcess(json) ?? '').toBe(excess)
})

test.each([
  '{}',
  '[1,{"a":1},[{"b":{"c":":"}}]]',
  JSON.stringify({ 'a\\\\': 1, 'b\\': '\\"', c: '":"', '"': ':', '': '' }),
  String.raw`["\\\\",{"\\":":"}]`,
  JSON.stringify({ 'a:b': '"c":', d: ['{"e":1}'], __proto__: null }),
  '{"__proto__":{"a":1},"0":2}',
])('a text has as many members as its value: %s', (json) => {
  expect(inspectJson(json)).toEqual({ members: countMembers(JSON.parse(json)) })
})

test.each([
  '{"a":1,"a":2}',
  '{"a":{"x":1,"y":2},"a":1}',
  String.raw`{"a":1,"\u0061":2}`,
  '[{"__proto__":1,"__proto__":2}]',
])('a text that names a member twice has more: %s', (json) => {
  expect(inspectJson(json).members).toBeGreaterThan(countMembers(JSON.parse(json)))
})

test('a text of nothing but escaped characters is looked through once', () => {
  const json = JSON.stringify({ text: '"'.repeat(200_000), slashes: '\\'.repeat(200_000), end: '\\"' })
  expect(inspectJson(json)).toEqual({ members: 3 })
})
