/**
 * Failed attempts to get in: so many a minute from one address, then nobody from there is looked at for a while (ours).
 *
 * Who has been let in from an address before goes on: otherwise one program with a wrong key would lock out all others behind the same
 * proxy. What is remembered of them is a digest that nobody can find again without this process.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Agent } from '../../src/agent.ts'
import { createPace } from '../../src/base/pace.ts'
import { Problem } from '../../src/base/problem.ts'

const windowSeconds = 60

/** How many are remembered, and how long after they were let in last. */
const remembered = { max: 10_000, ttl: 3_600_000 }

/** Where an attempt comes from, and what it shows. */
type Attempt = { address: string; requestId: string; headers: IncomingHttpHeaders }

/** Runs `identify` unless too many attempts from the address have failed. @throws {Problem} 429, and what `identify` throws. */
export type Guard = <Caller>(attempt: Attempt, identify: () => Promise<Caller>) => Promise<Caller>

/**
 * Lets an address fail `perMinute` times. A wrong token of the administrator's is a failure also where a tenant's key beside it is right:
 * what is answered would tell whether it was.
 */
export function createGuard(perMinute: number, { log, isAdminToken }: Pick<Agent, 'log' | 'isAdminToken'>): Guard {
  const failures = createPace(perMinute, windowSeconds)
  const salt = randomBytes(32)
  const admitted = new LRUCache<string, true>(remembered)

  return async ({ address, requestId, headers }, identify) => {
    const { apikey = '', 'x-admin-api-key': adminKey = '' } = headers
    const isEmpty = apikey === '' && adminKey === ''
    // Whoever shows nothing guesses nothing.
    if (isEmpty) return identify()
    const shown = createHmac('sha256', salt)
      .update(JSON.stringify([address, apikey, adminKey]))
      .digest('base64url')
    const wait = admitted.has(shown) ? undefined : await failures(address, 0)
    if (wait !== undefined) throw tooMany(wait)
    const fail = async () => {
      admitted.delete(shown)
      const over = await failures(address)
      if (over === undefined) return
      log.warn({ address, requestId, retryAfter: over }, 'too many keys from one address were wrong: no others are looked at for a while')
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
  return new Problem('TooManyRequests', `Too many keys from this address were wrong. Come again in ${retryAfter} seconds.`, { retryAfter })
}
