/**
 * What others said about a DID (W3C DID Resolution, "Caching") or anything else, kept for a while: answers for a lifetime, failures for a few seconds, and
 * one question under way however many ask.
 */
import { LRUCache } from 'lru-cache'
import { isTemporary, Problem } from '../base/problem.ts'
import { freeze } from './freeze.ts'

/** At most, so that whoever asks about ever new DIDs does not fill the memory; sizes are characters of JSON. */
const maxEntries = 10_000
const maxSize = 33_554_432
/** Questions under way at a time; whoever comes then is to come again. */
const maxUnderWay = 1_000

/** How long failures are kept, if answers are: that something is not there, and that somebody did not answer. */
const absentMs = 5_000
const unansweredMs = 1_000

/** What is kept: an answer, that there is none, or why. */
type Outcome<T> = { answer: T | undefined } | { failure: Problem }

export type Memory<T> = {
  /** The answer to a key, from memory or asked for. Answers are shared and therefore frozen. @throws whatever asking throws. */
  get: (key: string) => Promise<T | undefined>
  /** Asks anew from now on; an answer that is under way is told to those who wait for it and not kept. */
  forget: (key: string) => void
}

/**
 * Remembers what `ask` answers: an object, or `undefined` for what is not there. Of failures, a `Problem` is kept: anything else says nothing
 * about the key.
 *
 * `lifetimeMs` is how long answers are kept, 0 for not at all; `now` is a clock in milliseconds that never goes back.
 */
export function createMemory<T extends object>(
  ask: (key: string) => Promise<T | undefined>,
  { lifetimeMs, now = () => performance.now() }: { lifetimeMs: number; now?: (() => number) | undefined },
): Memory<T> {
  // It takes the room of all its entries at once, and most agents never keep one.
  let kept: LRUCache<string, Outcome<T>> | undefined
  const underWay = new Map<string, Promise<T | undefined>>()

  function keep(key: string, outcome: Outcome<T>): void {
    const ttl = Math.min(lifetimeMs, lifetimeOf(outcome))
    if (ttl <= 0) return
    kept ??= new LRUCache({ max: maxEntries, maxSize, perf: { now }, ttlResolution: 0 })
    kept.set(key, outcome, { ttl, size: key.length + sizeOf(outcome) })
  }

  async function askNow(key: string, isWanted: () => boolean): Promise<T | undefined> {
    try {
      const answer = freeze(await Promise.resolve(key).then(ask))
      if (isWanted()) keep(key, { answer })
      return answer
    } catch (error) {
      if (error instanceof Problem && isWanted()) keep(key, { failure: error })
      throw error
    }
  }

  return {
    async get(key) {
      const known = kept?.get(key)
      if (known && 'failure' in known) throw known.failure
      if (known) return known.answer
      const waiting = underWay.get(key)
      if (waiting) return waiting
      if (underWay.size >= maxUnderWay)
        throw new Problem(
          'error:ServiceUnavailable',
          'Too much is being asked of others at the moment; try again soon.',
        )
      const asked: Promise<T | undefined> = askNow(key, () => underWay.get(key) === asked).finally(() => {
        if (underWay.get(key) === asked) underWay.delete(key)
      })
      underWay.set(key, asked)
      return asked
    },
    forget(key) {
      kept?.delete(key)
      underWay.delete(key)
    },
  }
}

function lifetimeOf<T>(outcome: Outcome<T>): number {
  if ('answer' in outcome) return outcome.answer === undefined ? absentMs : Infinity
  // To see that again is cheap, and there is no end of such DIDs.
  if (outcome.failure.type === 'error:DIDResolution:invalidDid') return 0
  return isTemporary(outcome.failure) ? unansweredMs : absentMs
}

/** Rounded up: a size of 0 is none. */
function sizeOf<T>(outcome: Outcome<T>): number {
  return 'answer' in outcome && outcome.answer !== undefined ? JSON.stringify(outcome.answer).length : 200
}
