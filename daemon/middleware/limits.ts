/** How much a tenant may ask for in a time (ours). */
import { createPace } from '../../src/base/pace.ts'
import { Problem } from '../../src/base/problem.ts'
import type { Caller } from './access.ts'

const windowSeconds = 60

/** Counts a request of a tenant's. @throws {Problem} 429 when it is one too many. */
export type TenantPace = (caller: Caller) => Promise<void>

/** Lets each wallet's tenants have `perMinute` requests together; without a number, as many as come. */
export function createTenantPace(perMinute: number | undefined): TenantPace {
  if (perMinute === undefined) return () => Promise.resolve()
  const count = createPace(perMinute, windowSeconds, { hasOwn: true })
  return async (caller) => {
    const retryAfter = caller?.kind === 'tenant' ? await count(caller.walletId) : undefined
    if (retryAfter === undefined) return
    throw new Problem(
      'TooManyRequests',
      `${perMinute} requests in a minute is the most that a tenant may send here (TENANT_REQUESTS_PER_MINUTE). Come again in ${retryAfter} seconds.`,
      { retryAfter },
    )
  }
}
