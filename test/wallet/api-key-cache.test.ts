/** Keys that are known by sight: never longer than they let somebody in. */
import { afterEach, expect, test, vi } from 'vitest'
import { createKnownKeys, type KnownKey } from '../../src/wallet/api-key-cache.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const key = (endsAt?: number): KnownKey => ({
  admitted: { keyId: 'k', entityId: 'e', walletId: 'w' },
  endsAt,
  lastUsedAt: null,
})

/** A look-up that counts. */
function counted(found: KnownKey | undefined) {
  const look = vi.fn<() => Promise<KnownKey | undefined>>(() => Promise.resolve(found))
  return { look, count: () => look.mock.calls.length }
}

test('a key is looked up once, and again after a change', async () => {
  const known = createKnownKeys()
  const { look, count } = counted(key())
  for (let use = 0; use < 3; use++) expect((await known.find('a key', look))?.admitted.walletId).toBe('w')
  expect(count()).toBe(1)
  known.forget()
  await known.find('a key', look)
  expect(count()).toBe(2)
})

test('one that lets nobody in is looked up every time, as is every other key', async () => {
  const known = createKnownKeys()
  const { look, count } = counted(undefined)
  for (let use = 0; use < 3; use++) expect(await known.find('no key', look)).toBeUndefined()
  expect(count()).toBe(3)
  await known.find('a key', counted(key()).look)
  expect(await known.find('a kez', look)).toBeUndefined()
  expect(count()).toBe(4)
})

test('what is being looked up while something changes is not kept', async () => {
  const known = createKnownKeys()
  const { look, count } = counted(undefined)
  let answer: (found: KnownKey) => void = () => undefined
  const asked = known.find('a key', () => new Promise((resolve) => (answer = resolve)))
  known.forget()
  answer(key())
  expect(await asked).toBeDefined()
  expect(await known.find('a key', look)).toBeUndefined()
  expect(count()).toBe(1)
})

test('one that is over is looked up again', async () => {
  const known = createKnownKeys()
  const { look, count } = counted(undefined)
  const [now, awake] = [Date.now(), performance.now()]
  await known.find('a key', counted(key(now + 60_000)).look)
  expect(await known.find('a key', look)).toBeDefined()
  vi.spyOn(Date, 'now').mockReturnValue(now + 60_001)
  vi.spyOn(performance, 'now').mockReturnValue(awake + 61_000)
  expect(await known.find('a key', look)).toBeUndefined()
  vi.restoreAllMocks()
  expect(await known.find('a key', look)).toBeUndefined()
  expect(count()).toBe(2)
})
