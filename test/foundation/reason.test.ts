import { expect, test } from 'vitest'
import * as z from 'zod'
import { reasonOf } from '../../src/foundation/reason.ts'

test('a reason is the message of an error; for a validation error, the paths and their problems', () => {
  expect(reasonOf(new TypeError('is not JSON'))).toBe('is not JSON')
  expect(reasonOf('gone')).toBe('gone')
  const { error } = z
    .object({ a: z.array(z.string()), b: z.literal(1, 'is not 1') })
    .safeParse({ a: ['x', 2], b: 2 })
  expect(reasonOf(error)).toBe('a.1: must be a text, and is a number; b: is not 1')
  expect(reasonOf(z.string('is not a text').safeParse(1).error)).toBe('is not a text')
})

test('a reason is short, however many problems there are', () => {
  const { error } = z.array(z.string()).safeParse(Array(10_000).fill(1))
  expect(reasonOf(error)).toMatch(/^0: .*; 5: /)
  expect([reasonOf(error).length, reasonOf(new Error('x'.repeat(1_000))).length]).toEqual([300, 300])
})
