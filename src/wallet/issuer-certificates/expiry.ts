/** The ends of issuer certificates, for the doctor and for the metric of the earliest end. */
import { setImmediate as tick } from 'node:timers/promises'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallets } from '../wallets.ts'

/** The certificate of a wallet that ends first. */
export type EarliestEnd = { id: string; subject: string; notAfter: string; isDevelopment: boolean }

/** Undefined in a wallet without certificates. */
export async function findEarliestEnd(db: Db): Promise<EarliestEnd | undefined> {
  const found = await db
    .selectFrom('issuer_certificate')
    .where('not_after', 'is not', null)
    .select(['id', 'subject', 'not_after as notAfter', 'is_development'])
    .orderBy('not_after')
    .limit(1)
    .$narrowType<{ notAfter: string }>()
    .executeTakeFirst()
  if (!found) return undefined
  const { is_development, ...end } = found
  return { ...end, isDevelopment: is_development === 1 }
}

/** The time between two searches. A search opens every wallet. */
const intervalMs = 3_600_000

/**
 * Makes a function that returns the earliest end over all wallets of this process, as seconds since 1970;
 * undefined without certificates. It answers at once with the result of the last search, and begins the next
 * one in the background when an hour has passed.
 */
export function createEndSearch(
  wallets: Pick<Wallets, 'ids' | 'use'>,
  now: () => number = () => performance.now(),
): () => number | undefined {
  let earliest: string | undefined
  let searchedAt: number | undefined

  async function search(): Promise<void> {
    let found: string | undefined
    for (const id of await wallets.ids()) {
      // Wallets of tenants that make requests come first.
      await tick()
      // A wallet that cannot be read, or that another node has taken over, is of other checks.
      const end = await wallets.use(id, ({ db }) => findEarliestEnd(db)).catch(() => undefined)
      if (end && (found === undefined || end.notAfter < found)) found = end.notAfter
    }
    earliest = found
  }

  return () => {
    if (searchedAt === undefined || now() - searchedAt >= intervalMs) {
      searchedAt = now()
      void search().catch(() => undefined)
    }
    return earliest === undefined ? undefined : Date.parse(earliest) / 1_000
  }
}
