import { expect, test } from 'vitest'
import { createRateLimiter } from '../../src/foundation/rate-limiter.ts'

test('an address over its limit gets a waiting time; other addresses are not affected', async () => {
  const pace = createRateLimiter(3, 60)
  expect([await pace('192.0.2.1'), await pace('192.0.2.1', 2)]).toEqual([undefined, undefined])
  const wait = await pace('192.0.2.1')
  expect(Number.isInteger(wait) && wait! >= 1 && wait! <= 60).toBe(true)
  expect(await pace('192.0.2.2', 3)).toBeUndefined()
})

test('a count above the limit is refused', async () => {
  expect(await createRateLimiter(3, 60)('192.0.2.1', 4)).toBeDefined()
})
