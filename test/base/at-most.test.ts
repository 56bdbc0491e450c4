import { LRUCache } from 'lru-cache'
import { expect, test } from 'vitest'
import { atMost } from '../../src/base/at-most.ts'

test('as many entries are kept, those that were used last, also when one is written over', () => {
  const cache = new LRUCache<string, number>(atMost(3))
  for (const [n, key] of ['a', 'b', 'c', 'c'].entries()) cache.set(key, n)
  expect(cache.get('a')).toBe(0)
  cache.set('d', 4)
  expect([...cache.keys()]).toEqual(['d', 'a', 'c'])
  cache.clear()
  for (const key of ['e', 'f', 'g', 'h']) cache.set(key, 5)
  expect([...cache.keys()]).toEqual(['h', 'g', 'f'])
})
