/**
 * Old rows of the logs of a wallet go in turn: a transaction that has written every tenth row of a log looks, before it ends, at some of
 * the oldest rows of that log, more than have come.
 */
import type { Tx } from '../storage/database.ts'

/** After how many rows old ones are looked for, and how many of the oldest are then looked at. */
const prunedEvery = 10
export const prunedAtOnce = 20

/** Removes some of the oldest rows of a log, as far as they are older than `retention` seconds. */
type Prune = (tx: Tx, retention: number) => Promise<void>

/** What transactions are to do before they end. */
const pruning = new WeakMap<Tx, Set<Prune>>()

/** Says that a log has a new row, at a place. */
export function noteRow(tx: Tx, sequence: number, prune: Prune): void {
  if (sequence % prunedEvery !== 0) return
  const known = pruning.get(tx)
  if (known) known.add(prune)
  else pruning.set(tx, new Set([prune]))
}

/** Ends a transaction: prunes the logs whose turn has come. */
export async function pruneInTurn(tx: Tx, retention: number): Promise<void> {
  for (const prune of pruning.get(tx) ?? []) await prune(tx, retention)
  pruning.delete(tx)
}
