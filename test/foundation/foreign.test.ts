/** Documents and texts of other parties. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { ifValid, isPassingStatus, oneLine, readForeign, validOnes } from '../../src/foundation/foreign.ts'

const Type = z.looseObject({
  needed: z.string(),
  possible: z.number().optional(),
  unneeded: ifValid(z.number()),
  list: ifValid(validOnes(z.string())),
  path: z.array(z.union([z.string(), z.null()])).optional(),
})

test.each<[unknown, object]>([
  [{ needed: 'a', possible: null, unneeded: null, list: null }, { needed: 'a' }],
  [{ needed: 'a', unneeded: 'b', list: 'c' }, { needed: 'a' }],
  [
    { needed: 'a', list: [1, 'b', null] },
    { needed: 'a', list: ['b'] },
  ],
  [
    { needed: 'a', path: ['b', null] },
    { needed: 'a', path: ['b', null] },
  ],
  [
    { needed: 'a', other: { deep: [{ b: null, c: 1 }] } },
    { needed: 'a', other: { deep: [{ c: 1 }] } },
  ],
])('%j', (value, read) => {
  expect(JSON.parse(JSON.stringify(readForeign(Type, value).data))).toEqual(read)
})

test.each([[{}], [{ needed: null }], [{ needed: 'a', possible: 'b' }], [[]], [null]])(
  '%j is refused',
  (value) => {
    expect(readForeign(Type, value).success).toBe(false)
  },
)

test('a document of any depth is read', () => {
  const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown
  expect(readForeign(Type, { needed: 'a', deep }).success).toBe(true)
})

test('a text is on one line', () => {
  expect(oneLine(' a\r\nb\u001b[31m\u202ec\u2028d\u0000 ')).toBe('a  b [31m c d')
  expect(oneLine('x'.repeat(1_000))).toHaveLength(300)
})

test('statuses after which another attempt may succeed', () => {
  const statuses = [200, 301, 400, 401, 404, 408, 410, 425, 429, 500, 503]
  expect(statuses.filter(isPassingStatus)).toEqual([408, 425, 429, 500, 503])
})
