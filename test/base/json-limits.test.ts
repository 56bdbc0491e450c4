import { expect, test } from 'vitest'
import { findExcess, jsonLimits } from '../../src/base/json-limits.ts'

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
