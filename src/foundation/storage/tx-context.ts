/**
 * Notes that belong to a transaction: changes for the worker, increments of metrics, what to remember,
 * touched threads, and logs to prune.
 */
import type { Count } from '../metrics.ts'
import type { Kysely, Transaction } from 'kysely'
import type { Tx } from './database.ts'

/** A topic of a commit: jobs, events, webhooks with their replays, or the DID request or challenge with an id. */
export type ChangeTopic = 'jobs' | 'events' | 'webhooks' | `session ${string}` | `record ${string}`

/** Deletes some of the oldest rows of a log that are older than `retentionSeconds`. Returns how many. */
export type Prune = (tx: Tx, retentionSeconds: number) => Promise<number>

/** What the commit does. A note with a `holder` stands for a value that the transaction itself reads. */
type Note = { apply: () => void; holder?: object; key?: string; value?: unknown }

type TxContext = {
  changes: Set<ChangeTopic>
  counts: Count[]
  notes: Note[]
  onThread?: ((thid: string) => void) | undefined
  prunes: Set<Prune>
}

/**
 * Every tenth row triggers pruning, which deletes up to twenty of the oldest rows: a log shrinks faster than
 * it grows.
 */
const pruneEvery = 10
export const prunedAtOnce = 20

const contexts = new WeakMap<Kysely<any>, TxContext>()

function contextOf(tx: Transaction<any>): TxContext {
  const known = contexts.get(tx)
  if (known) return known
  const context = { changes: new Set<ChangeTopic>(), counts: [], notes: [], prunes: new Set<Prune>() }
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

/** Notes what the commit does. */
export function noteAtCommit(tx: Transaction<any>, apply: () => void): void {
  contextOf(tx).notes.push({ apply })
}

/** Notes a value that the transaction reads from now on, and what the commit does. */
export function noteValue(
  tx: Transaction<any>,
  holder: object,
  key: string,
  value: unknown,
  apply: () => void,
): void {
  contextOf(tx).notes.push({ apply, holder, key, value })
}

/** The last value that a transaction has noted, if it has noted one. */
export function notedValue(db: Kysely<any>, holder: object, key: string): { value?: unknown } | undefined {
  return contexts.get(db)?.notes.findLast((each) => each.holder === holder && each.key === key)
}

/** What the commit does, in order. */
export function notesOf(tx: Transaction<any>): (() => void)[] {
  return (contexts.get(tx)?.notes ?? []).map(({ apply }) => apply)
}

/** Runs one of the writes of a transaction. Its increments and notes are dropped with it if it fails. */
export async function withNotes<Tables, T>(
  tx: Transaction<Tables>,
  write: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const context = contextOf(tx)
  const [counts, notes] = [context.counts.length, context.notes.length]
  try {
    return await write(tx)
  } catch (error) {
    context.counts.splice(counts)
    context.notes.splice(notes)
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
