/** UUIDv7 ids, each greater than all earlier ones, whatever the clock does. */
import { afterEach, expect, test, vi } from 'vitest'
import { validate, version } from 'uuid'
import { firstIdOf, newId } from '../../src/foundation/id.ts'

afterEach(() => void vi.useRealTimers())

test('an id is a UUIDv7 of the current time', () => {
  const id = newId()
  expect([validate(id), version(id)]).toEqual([true, 7])
  expect(id > firstIdOf(new Date(Date.now() - 60_000))).toBe(true)
})

test('each id is greater than the one before, also beyond one batch of random bytes', () => {
  const ids = Array.from({ length: 2_000 }, newId)
  expect(ids).toEqual(ids.toSorted())
  expect(new Set(ids).size).toBe(ids.length)
  // The random parts differ.
  expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(ids.length)
})

test('and also when the clock is set back', () => {
  const first = newId()
  vi.useFakeTimers({ now: Date.now() - 86_400_000 })
  const ids = [first, ...Array.from({ length: 10 }, newId)]
  expect(ids).toEqual(ids.toSorted())
})
