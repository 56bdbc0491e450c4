import { expect, test } from 'vitest'
import { createRateLimiter } from '../../src/base/rate-limiter.ts'

test('an address has so much in a time, and is told how long to wait; others have theirs', async () => {
  const pace = createRateLimiter(3, 60)
  expect([await pace('192.0.2.1'), await pace('192.0.2.1', 2)]).toEqual([undefined, undefined])
  const wait = await pace('192.0.2.1')
  expect(Number.isInteger(wait) && wait! >= 1 && wait! <= 60).toBe(true)
  expect(await pace('192.0.2.2', 3)).toBeUndefined()
})

test('more at once than there may be in all is refused', async () => {
  expect(await createRateLimiter(3, 60)('192.0.2.1', 4)).toBeDefined()
})
