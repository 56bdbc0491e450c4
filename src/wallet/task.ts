/** Tasks: jobs that are not messages. A task does its network calls and cryptography first and returns a write, which the worker commits with the deletion of the job. */
import type { Tx } from '../storage/database.ts'
import type { Wallet } from './wallet.ts'

/** Runs a task for a record and returns its write. @throws {LaterError} to run again later. */
export type Task = (wallet: Wallet, recordId: string) => Promise<(tx: Tx) => Promise<unknown>>

/** Thrown by a task that cannot finish before a time on the clock of `steadyNow`. It is not a failure. */
export class LaterError extends Error {
  override name = 'LaterError'
  readonly at: Date

  constructor(at: Date) {
    super(`not before ${at.toISOString()}`)
    this.at = at
  }
}
