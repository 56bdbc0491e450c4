/**
 * Notes that belong to a transaction: changes for the worker, increments of metrics, touched threads, and
 * logs to prune.
 */
import type { Count } from '../metrics.ts'
import type { Tx } from './database.ts'

/** A topic of a commit: jobs, events, webhooks with their replays, or the DID request or challenge with an id. */
export type ChangeTopic = 'jobs' | 'events' | 'webhooks' | `session ${string}` | `record ${string}`

/** Deletes some of the oldest rows of a log that are older than `retentionSeconds`. Returns how many. */
export type Prune = (tx: Tx, retentionSeconds: number) => Promise<number>

type TxContext = {
  changes: Set<ChangeTopic>
  counts: Count[]
  onThread?: ((thid: string) => void) | undefined
  prunes: Set<Prune>
}

/**
 * Every tenth row triggers pruning, which deletes up to twenty of the oldest rows: a log shrinks faster than
 * it grows.
 */
const pruneEvery = 10
export const prunedAtOnce = 20

const contexts = new WeakMap<Tx, TxContext>()

function contextOf(tx: Tx): TxContext {
  const known = contexts.get(tx)
  if (known) return known
  const context = { changes: new Set<ChangeTopic>(), counts: [], prunes: new Set<Prune>() }
  contexts.set(tx, context)
  return context
}

/**
 * Notes a change of a transaction, so that its commit notifies of it. A rolled back savepoint does not undo
 * the note.
 */
export function noteChange(tx: Tx, topic: ChangeTopic): void {
  contextOf(tx).changes.add(topic)
}

export function changesOf(tx: Tx): ReadonlySet<ChangeTopic> {
  return contexts.get(tx)?.changes ?? new Set()
}

/** Notes an increment of a counter, which the commit adds. */
export function noteCount(tx: Tx, ...count: Count): void {
  contextOf(tx).counts.push(count)
}

export function countsOf(tx: Tx): readonly Count[] {
  return contexts.get(tx)?.counts ?? []
}

/** Runs one of the writes of a transaction. The increments that it notes are dropped with it if it fails. */
export async function withCounts<T>(tx: Tx, write: (tx: Tx) => Promise<T>): Promise<T> {
  const before = countsOf(tx).length
  try {
    return await write(tx)
  } catch (error) {
    contexts.get(tx)?.counts.splice(before)
    throw error
  }
}

/** Runs `write`, and calls `note` with the thread id of every record and message that it writes. */
export async function watchThreads<T>(
  tx: Tx,
  note: (thid: string) => void,
  write: (tx: Tx) => Promise<T>,
): Promise<T> {
  const context = contextOf(tx)
  context.onThread = note
  try {
    return await write(tx)
  } finally {
    context.onThread = undefined
  }
}

export function noteThread(tx: Tx, thid: string): void {
  contexts.get(tx)?.onThread?.(thid)
}

/** Notes that a log has a new row with the given sequence number. */
export function noteLogRow(tx: Tx, sequence: number, prune: Prune): void {
  if (sequence % pruneEvery === 0) contextOf(tx).prunes.add(prune)
}

/** Prunes the logs that are due, at the end of a transaction. */
export async function pruneLogs(tx: Tx, retentionSeconds: number): Promise<void> {
  const prunes = contexts.get(tx)?.prunes
  if (!prunes) return
  for (const prune of prunes) await prune(tx, retentionSeconds)
  prunes.clear()
}
