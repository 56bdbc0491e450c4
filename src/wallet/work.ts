/** Work that a step owes to itself: thinking first, then one write that the courier runs with the striking out of the debt. */
import type { Tx } from '../storage/database.ts'
import type { Wallet } from './wallet.ts'

/** Does a piece of work for a record and returns what is to be written. @throws {LaterError} to be asked again. */
export type Work = (wallet: Wallet, recordId: string) => Promise<(tx: Tx) => Promise<unknown>>

/** Nothing went wrong, but the work cannot be finished before a certain time, by `steadyNow`. */
export class LaterError extends Error {
  override name = 'LaterError'
  readonly at: Date

  constructor(at: Date) {
    super(`not before ${at.toISOString()}`)
    this.at = at
  }
}
