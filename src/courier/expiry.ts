/** Flows of a wallet that have waited for too long, and what is known of when the next one will have. */
import { steadyNow, toSteady } from '../base/clock.ts'
import { findExpired, type Expired } from '../protocols/expiry.ts'
import { recordOf } from '../protocols/record.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { freeFor, type Round } from './round.ts'

/** How long the courier relies on what it knows of that: the system's clock may be set meanwhile. */
const lookMs = 3_600_000

/** Whether it is known that no flow has waited for too long: what is owed for one that is over is not to be paid any more. */
export function isTimed({ expiryLookedAt, expiresAt }: Round): boolean {
  return expiresAt !== undefined && steadyNow() < Math.min(expiryLookedAt + lookMs, expiresAt)
}

/** Looks for flows that are to be ended now, when there can be any: one that has begun, or gone on, since the last look has its whole time. */
export async function findOver(wallet: Wallet, round: Round): Promise<Expired[]> {
  const free = freeFor(round)
  if (free === 0) {
    round.expiryLookedAt = -Infinity
    round.expiresAt = undefined
    return []
  }
  const lifetime = wallet.env.config.FLOW_EXPIRY
  const now = steadyNow()
  if (now < Math.min(round.expiryLookedAt + Math.min(lookMs, lifetime * 1_000), round.expiresAt ?? Infinity)) {
    round.expiresAt ??= round.expiryLookedAt + lifetime * 1_000
    return []
  }
  const busy = new Set([...round.debts.keys()].map(recordOf))
  const { expired, nextAt } = await findExpired(wallet.db, lifetime, { limit: free + busy.size })
  // A lane that is left has the rest looked for.
  round.expiryLookedAt = expired.length > 0 ? -Infinity : now
  round.expiresAt = nextAt && toSteady(nextAt.getTime())
  return expired.filter(({ recordId }) => !busy.has(recordId)).slice(0, free)
}
