/** Limits on requests per minute: of one tenant, and of one address where no credentials are needed. */
import type { Config } from '../../src/foundation/config/config.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { createRateLimiter } from '../../src/foundation/rate-limiter.ts'

const windowSeconds = 60

/** The variables that limit the requests of one address. */
export type AddressLimit =
  | 'DID_RESOLUTIONS_PER_MINUTE'
  | 'SHORT_URL_REQUESTS_PER_MINUTE'
  | 'OID4VCI_REQUESTS_PER_MINUTE'
  | 'VDR_READS_PER_MINUTE'
  | 'OID4VP_REQUESTS_PER_MINUTE'

export type RateLimits = {
  /** Counts a request of a wallet. Undefined if tenants have no limit. @throws {Problem} 429 */
  countTenant: ((walletId: string) => Promise<void>) | undefined
  /** Counts a request of an address. @throws {Problem} 429 */
  countAddress(limit: AddressLimit, address: string): Promise<void>
}

export function createRateLimits(config: Config): RateLimits {
  const { TENANT_REQUESTS_PER_MINUTE: perTenant } = config
  const tenants = perTenant && createRateLimiter(perTenant, windowSeconds, { isExact: true })
  const limiter = (limit: AddressLimit) => createRateLimiter(config[limit], windowSeconds)
  const addresses = {
    DID_RESOLUTIONS_PER_MINUTE: limiter('DID_RESOLUTIONS_PER_MINUTE'),
    SHORT_URL_REQUESTS_PER_MINUTE: limiter('SHORT_URL_REQUESTS_PER_MINUTE'),
    OID4VCI_REQUESTS_PER_MINUTE: limiter('OID4VCI_REQUESTS_PER_MINUTE'),
    VDR_READS_PER_MINUTE: limiter('VDR_READS_PER_MINUTE'),
    OID4VP_REQUESTS_PER_MINUTE: limiter('OID4VP_REQUESTS_PER_MINUTE'),
  } satisfies Record<AddressLimit, unknown>
  return {
    countTenant: tenants
      ? async (walletId) =>
          assertBelow(
            await tenants(walletId),
            `A tenant may send ${perTenant} requests a minute (TENANT_REQUESTS_PER_MINUTE).`,
          )
      : undefined,
    async countAddress(limit, address) {
      const reason = `An address may send ${config[limit]} requests of this kind a minute (${limit}).`
      assertBelow(await addresses[limit](address), reason)
    },
  }
}

function assertBelow(retryAfter: number | undefined, reason: string): void {
  if (retryAfter !== undefined)
    throw new Problem('TooManyRequests', `${reason} Retry in ${retryAfter} seconds.`, { retryAfter })
}
