/**
 * A cache for values fetched from others, such as DID documents (W3C DID Resolution, "Caching"). Concurrent
 * requests for one key share one fetch. Failures are cached for a few seconds.
 */
import { LRUCache } from 'lru-cache'
import { isTemporary, Problem } from '../foundation/problem.ts'

/** Anyone can name ever new DIDs. Sizes are characters of JSON; at most 10,000 entries fit. */
const maxSize = 33_550_000
const minEntrySize = 3_355
const maxPending = 1_000

/** How long an absent value, a permanent failure and a temporary failure are cached. */
const absentMs = 5_000
const unreachableMs = 1_000

export type FetchCache<T> = {
  /** The value of a key, cached or fetched; shared and therefore frozen. @throws the error of the fetch */
  get: (key: string) => Promise<T | undefined>
  /** Removes a key. A fetch in progress still answers its callers; its result is not cached. */
  invalidate: (key: string) => void
}

/**
 * Caches the results of `fetch`: an object, or `undefined` for an absent value. Failures are cached only if
 * they are a `Problem`.
 *
 * `lifetimeMs` is the lifetime of values; 0 disables caching. `now` is a monotonic clock in milliseconds.
 */
export function createFetchCache<T extends object>(
  fetch: (key: string) => Promise<T | undefined>,
  { lifetimeMs, now = () => performance.now() }: { lifetimeMs: number; now?: (() => number) | undefined },
): FetchCache<T> {
  const entries = new LRUCache<string, Promise<T | undefined>>({
    maxSize,
    sizeCalculation: () => minEntrySize,
    perf: { now },
    ttlResolution: 0,
  })
  let pending = 0

  function start(key: string): Promise<T | undefined> {
    if (pending >= maxPending)
      throw new Problem(
        'error:ServiceUnavailable',
        'Too many requests to other hosts are in progress. Try again soon.',
      )
    pending++
    const promise = Promise.resolve(key).then(fetch).then(deepFreeze)
    entries.set(key, promise)
    const finish = (maxMs: number, size: number) => {
      pending--
      if (entries.peek(key) !== promise) return
      entries.delete(key)
      const ttl = Math.min(lifetimeMs, maxMs)
      if (ttl > 0) entries.set(key, promise, { ttl, size: Math.max(size, minEntrySize) })
    }
    void promise.then(
      (value) => (value ? finish(Infinity, JSON.stringify(value).length) : finish(absentMs, 0)),
      (error: unknown) => finish(failureMs(error), 0),
    )
    return promise
  }

  return { get: async (key) => entries.get(key) ?? start(key), invalidate: (key) => void entries.delete(key) }
}

function failureMs(error: unknown): number {
  // A malformed DID is cheap to check again, and there are infinitely many.
  if (!(error instanceof Problem) || error.type === 'error:DIDResolution:invalidDid') return 0
  return isTemporary(error) ? unreachableMs : absentMs
}

/** Freezes a JSON value at every depth, because several callers share it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
