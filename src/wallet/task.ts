/** Tasks: the jobs of the outbox that are not messages. A task does its network and crypto first and returns one write, which the worker commits with the deletion of the job. */
import type { Tx } from '../storage/database.ts'
import type { Wallet } from './wallet.ts'

/** Runs a task for a record and returns what is to be written. @throws {LaterError} to be run again. */
export type Task = (wallet: Wallet, recordId: string) => Promise<(tx: Tx) => Promise<unknown>>

/** The task did not fail, but cannot be finished before a certain time, by `steadyNow`. */
export class LaterError extends Error {
  override name = 'LaterError'
  readonly at: Date

  constructor(at: Date) {
    super(`not before ${at.toISOString()}`)
    this.at = at
  }
}
