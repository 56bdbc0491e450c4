/** Which DIDComm threads a transaction writes to: so a line of the log can lead from the request to the messages it caused. */
import type { Tx } from '../storage/database.ts'

const watched = new WeakMap<Tx, (thid: string) => void>()

/** Writes in a transaction, and has `note` told of every thread that is written to meanwhile: others may write in the same transaction. */
export async function watchThreads<T>(tx: Tx, note: (thid: string) => void, write: (tx: Tx) => Promise<T>): Promise<T> {
  watched.set(tx, note)
  try {
    return await write(tx)
  } finally {
    watched.delete(tx)
  }
}

/** Notes that a transaction writes to a thread; nothing where nobody watches. */
export function noteThread(tx: Tx, thid: string): void {
  watched.get(tx)?.(thid)
}
