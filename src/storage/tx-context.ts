/** What a transaction carries besides its rows: what it changed, which threads it touched, and which logs are due for pruning. */
import type { Tx } from './database.ts'

/** The parts of a wallet that others wait for. */
export type Changes = { jobs: boolean; events: boolean }

/** Deletes some of the oldest rows of a log, as far as they are older than `retentionSeconds`. */
export type Prune = (tx: Tx, retentionSeconds: number) => Promise<void>

type TxContext = { changes: Changes; onThread?: ((thid: string) => void) | undefined; prunes: Set<Prune> }

/** A log is pruned with every tenth row; up to twenty of its oldest rows are then deleted, so that a log shrinks faster than it grows. */
const pruneEvery = 10
export const prunedAtOnce = 20

const contexts = new WeakMap<Tx, TxContext>()

function contextOf(tx: Tx): TxContext {
  const known = contexts.get(tx)
  if (known) return known
  const context = { changes: { jobs: false, events: false }, prunes: new Set<Prune>() }
  contexts.set(tx, context)
  return context
}

/** Notes that a transaction has changed jobs, or events or webhooks: its commit wakes the worker. A rolled back savepoint may wake it in vain. */
export function noteChange(tx: Tx, what: keyof Changes): void {
  contextOf(tx).changes[what] = true
}

/** What a transaction has changed until now; undefined when nobody waits for it. */
export function changesOf(tx: Tx): Changes | undefined {
  const changes = contexts.get(tx)?.changes
  return changes && (changes.jobs || changes.events) ? changes : undefined
}

/** Runs `write` and calls `note` with the thread id of every record and message that it writes; other writes of the same transaction are not reported. */
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

/** Notes that a transaction writes to a DIDComm thread. */
export function noteThread(tx: Tx, thid: string): void {
  contexts.get(tx)?.onThread?.(thid)
}

/** Notes that a log has a new row with this sequence number. */
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
