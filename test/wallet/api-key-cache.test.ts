/** The cache of active API keys. */
import { afterEach, expect, test, vi } from 'vitest'
import { createApiKeyCache, type ActiveKey } from '../../src/wallet/api-key-cache.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const key = (endsAt?: number): ActiveKey => ({
  grant: { keyId: 'k', entityId: 'e', walletId: 'w' },
  endsAt,
  lastUsedAt: null,
})

/** Counts its calls. */
function newLoad(found: ActiveKey | undefined) {
  const load = vi.fn<() => Promise<ActiveKey | undefined>>(() => Promise.resolve(found))
  return { load, count: () => load.mock.calls.length }
}

test('a key is loaded once, and again after a change', async () => {
  const cache = createApiKeyCache()
  const { load, count } = newLoad(key())
  for (let use = 0; use < 3; use++) expect((await cache.find('a key', load))?.grant.walletId).toBe('w')
  expect(count()).toBe(1)
  cache.clear()
  await cache.find('a key', load)
  expect(count()).toBe(2)
})

test('unknown keys are not cached', async () => {
  const cache = createApiKeyCache()
  const { load, count } = newLoad(undefined)
  for (let use = 0; use < 3; use++) expect(await cache.find('no key', load)).toBeUndefined()
  expect(count()).toBe(3)
  await cache.find('a key', newLoad(key()).load)
  expect(await cache.find('a kez', load)).toBeUndefined()
  expect(count()).toBe(4)
})

test('a key that is loaded during a change is not cached', async () => {
  const cache = createApiKeyCache()
  const { load, count } = newLoad(undefined)
  let answer: (found: ActiveKey) => void = () => undefined
  const loading = cache.find('a key', () => new Promise((resolve) => (answer = resolve)))
  cache.clear()
  answer(key())
  expect(await loading).toBeDefined()
  expect(await cache.find('a key', load)).toBeUndefined()
  expect(count()).toBe(1)
})

test('an expired key is loaded again', async () => {
  const cache = createApiKeyCache()
  const { load, count } = newLoad(undefined)
  const [now, awake] = [Date.now(), performance.now()]
  await cache.find('a key', newLoad(key(now + 60_000)).load)
  expect(await cache.find('a key', load)).toBeDefined()
  vi.spyOn(Date, 'now').mockReturnValue(now + 60_001)
  vi.spyOn(performance, 'now').mockReturnValue(awake + 61_000)
  expect(await cache.find('a key', load)).toBeUndefined()
  vi.restoreAllMocks()
  expect(await cache.find('a key', load)).toBeUndefined()
  expect(count()).toBe(2)
})
