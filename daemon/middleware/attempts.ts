/**
 * Failed attempts to get in: so many a minute from one address, then nobody from there is looked at for a while (ours).
 *
 * Who has been let in from an address before goes on: otherwise one program with a wrong key would lock out all others behind the same
 * proxy. Keys that are too long to be guessed are always looked at, for the same reason: a right one is never refused.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Agent } from '../../src/agent.ts'
import { atMost } from '../../src/base/at-most.ts'
import { createPace } from '../../src/base/pace.ts'
import { Problem } from '../../src/base/problem.ts'
import type { Shown } from './shown.ts'

const windowSeconds = 60

/** How many are remembered, and how long after they were let in last; that is looked at once a second. */
const remembered = { ...atMost(10_000), ttl: 3_600_000, ttlResolution: 1_000 }

/** Characters from which on nobody finds a key by trying: 32 hexadecimal digits are 128 bits. Keys that the agent makes have 256. */
const unguessable = 32

/** Where an attempt comes from, and what it shows. */
type Attempt = { address: string; requestId: string; headers: IncomingHttpHeaders }

/** Runs `identify` unless too many attempts from the address have failed. @throws {Problem} 429, and what `identify` throws. */
export type Guard = <Caller>(attempt: Attempt, identify: () => Promise<Caller>) => Promise<Caller>

/**
 * Lets an address fail `perMinute` times. A wrong token of the administrator's is a failure also where a tenant's key beside it is right:
 * what is answered would tell whether it was.
 */
export function createGuard(
  perMinute: number,
  { log, isAdminToken }: Pick<Agent, 'log' | 'isAdminToken'>,
  shownBy: Shown,
): Guard {
  const failures = createPace(perMinute, windowSeconds)
  const admitted = new LRUCache<string, true>(remembered)

  return async ({ address, requestId, headers }, identify) => {
    const keys = shownBy(headers)
    // Whoever shows nothing guesses nothing.
    if (keys === undefined) return identify()
    const { 'x-admin-api-key': adminKey = '', apikey = '' } = headers
    const shown = `${address} ${keys}`
    const isGuess = [adminKey, apikey].some((key) => key !== '' && key.length < unguessable)
    const wait = isGuess && !admitted.has(shown) ? await failures(address, 0) : undefined
    if (wait !== undefined) throw tooMany(wait)
    const fail = async () => {
      admitted.delete(shown)
      const over = await failures(address)
      if (over === undefined) return
      log.warn(
        { address, requestId, retryAfter: over },
        'too many keys from one address were wrong: no others are looked at for a while',
      )
      throw tooMany(over)
    }
    const caller = await identify().catch(async (error: unknown) => {
      if (error instanceof Problem && error.status === 401) await fail()
      throw error
    })
    if (adminKey !== '' && !isAdminToken(adminKey)) await fail()
    else admitted.set(shown, true)
    return caller
  }
}

function tooMany(retryAfter: number): Problem {
  return new Problem(
    'TooManyRequests',
    `Too many keys from this address were wrong. Come again in ${retryAfter} seconds.`,
    { retryAfter },
  )
}
