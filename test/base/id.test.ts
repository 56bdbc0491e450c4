/** Ids: UUIDv7, each greater than all before it, whatever the clock does. */
import { afterEach, expect, test, vi } from 'vitest'
import { validate, version } from 'uuid'
import { firstIdOf, newId } from '../../src/base/id.ts'

afterEach(() => void vi.useRealTimers())

test('an id is a UUIDv7 of now', () => {
  const id = newId()
  expect([validate(id), version(id)]).toEqual([true, 7])
  expect(id > firstIdOf(new Date(Date.now() - 60_000))).toBe(true)
})

test('each is greater than the one before, more of them than have their random bytes fetched at a time', () => {
  const ids = Array.from({ length: 2_000 }, newId)
  expect(ids).toEqual(ids.toSorted())
  expect(new Set(ids).size).toBe(ids.length)
  // What is random of them is never that of another.
  expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(ids.length)
})

test('a clock that is set back changes nothing of that', () => {
  const first = newId()
  vi.useFakeTimers({ now: Date.now() - 86_400_000 })
  const ids = [first, ...Array.from({ length: 10 }, newId)]
  expect(ids).toEqual(ids.toSorted())
})
