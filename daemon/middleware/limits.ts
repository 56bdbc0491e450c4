/** How much a tenant, and one address without credentials, may ask for in a time (ours). */
import { createPace } from '../../src/base/pace.ts'
import { Problem } from '../../src/base/problem.ts'
import type { Config } from '../../src/base/config.ts'
import type { Contract } from '../http/route.ts'
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

/** Counts a request of an address. @throws {Problem} 429 when it is one too many. */
export type AddressPace = (limit: Contract['perAddress'], address: string) => Promise<void>

/** Lets each address have as many requests in a minute, to all endpoints with the same limit together, as the variable says that the limit is. */
export function createAddressPace(config: Config): AddressPace {
  const paces = { DID_RESOLUTIONS_PER_MINUTE: createPace(config.DID_RESOLUTIONS_PER_MINUTE, windowSeconds) }
  return async (limit, address) => {
    const retryAfter = limit && (await paces[limit](address))
    if (limit === undefined || retryAfter === undefined) return
    throw new Problem(
      'TooManyRequests',
      `${config[limit]} requests of this kind in a minute is the most that one address may send here (${limit}). Come again in ${retryAfter} seconds.`,
      { retryAfter },
    )
  }
}
