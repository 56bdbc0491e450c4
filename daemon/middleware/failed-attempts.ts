/**
 * Limits failed authentication attempts of one address. Above the limit, keys that can be guessed are
 * refused.
 *
 * Exceptions keep a program with a wrong key from locking out others behind the same proxy: keys that are too
 * long to be guessed, and keys that were accepted from the address in the last hour.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Agent } from '../../src/agent/agent.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { createRateLimiter } from '../../src/foundation/rate-limiter.ts'
import { createFingerprint } from '../../src/foundation/api-key.ts'
import type { RequestContext } from './request-context.ts'

const windowSeconds = 60

/** The key cache checks the age of an entry once a second. */
const acceptedOptions = { max: 10_000, ttl: 3_600_000, ttlResolution: 1_000 }

/** 32 hexadecimal digits are 128 bits. Keys that the agent makes have 256 bits. */
const minUnguessableLength = 32

/** Runs `identify` unless the limit is reached. @throws {Problem} 429, and the errors of `identify`. */
export type AttemptLimit = <Caller>(
  headers: IncomingHttpHeaders,
  context: RequestContext,
  identify: () => Promise<Caller>,
) => Promise<Caller>

/**
 * Lets an address fail `perMinute` times. A wrong administrator's token is a failure even beside a valid API
 * key: otherwise the response would reveal whether the token is right.
 */
export function createAttemptLimit(
  perMinute: number,
  { log, isAdminToken }: Pick<Agent, 'log' | 'isAdminToken'>,
): AttemptLimit {
  const failures = createRateLimiter(perMinute, windowSeconds)
  const accepted = new LRUCache<string, true>(acceptedOptions)
  const fingerprint = createFingerprint()

  return async (headers, { address, requestId }, identify) => {
    const { 'x-admin-api-key': adminToken = '', apikey = '' } = headers
    if (adminToken === '' && apikey === '') return identify()
    const isGuessable = [adminToken, apikey].some((key) => key !== '' && key.length < minUnguessableLength)
    const credentials = isGuessable ? `${address} ${fingerprint(JSON.stringify([adminToken, apikey]))}` : ''
    if (isGuessable && !accepted.has(credentials)) {
      const waitSeconds = await failures(address, 0)
      if (waitSeconds !== undefined) throw tooManyFailures(waitSeconds)
    }
    const fail = async () => {
      accepted.delete(credentials)
      const waitSeconds = await failures(address)
      if (waitSeconds === undefined) return
      log.warn(
        { address, requestId, retryAfter: waitSeconds },
        'too many keys from one address were wrong: keys that can be guessed are refused for a while',
      )
      throw tooManyFailures(waitSeconds)
    }
    const caller = await identify().catch(async (error: unknown) => {
      if (error instanceof Problem && error.status === 401) await fail()
      throw error
    })
    if (adminToken !== '' && !isAdminToken(adminToken)) await fail()
    else if (isGuessable) accepted.set(credentials, true)
    return caller
  }
}

function tooManyFailures(retryAfter: number): Problem {
  return new Problem(
    'TooManyRequests',
    `Too many keys from this address were wrong. Retry in ${retryAfter} seconds.`,
    { retryAfter },
  )
}
