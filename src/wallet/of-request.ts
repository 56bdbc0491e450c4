/** A wallet's handle for as long as one request has it: the lines of the log name the request, and the request is told which threads are written to. */
import type { Log } from '../base/log.ts'
import { watchThreads } from '../storage/tx-context.ts'
import type { Wallet } from './wallet.ts'

/** Makes the handle of an open wallet; `note` is told of each thread, also where the transaction then fails. */
export function ofRequest(wallet: Wallet, log: Log, note: (thid: string) => void): Wallet {
  return {
    ...wallet,
    env: { ...wallet.env, log },
    transaction: (write, options) => wallet.transaction((tx) => watchThreads(tx, note, write), options),
  }
}
