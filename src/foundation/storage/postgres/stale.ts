/**
 * Connections with prepared statements from before a migration.
 *
 * The server refuses a prepared statement whose result would have other columns than at its preparation. So
 * the migration of a newer release makes statements of the running nodes of the previous one unusable, on
 * each of their connections.
 */
import type { Pool, PoolClient } from 'pg'

/** How often the statements of a pool were found stale, and that number at the first use of a connection. */
const [rounds, firstRounds] = [new WeakMap<Pool, number>(), new WeakMap<PoolClient, number>()]

const roundOf = (pool: Pool) => rounds.get(pool) ?? 0

/** A connection of the pool whose statements were not found stale. */
export async function takeConnection(pool: Pool): Promise<PoolClient> {
  for (;;) {
    const client = await pool.connect()
    const round = firstRounds.get(client) ?? roundOf(pool)
    firstRounds.set(client, round)
    if (round === roundOf(pool)) return client
    client.release(true)
  }
}

/** Has `takeConnection` close all connections of the pool that are as old as this one. */
export function markStale(pool: Pool, client: PoolClient): void {
  if (firstRounds.get(client) === roundOf(pool)) rounds.set(pool, roundOf(pool) + 1)
}
