/** Rows that a test changes itself, such as their times. */
import type { Tx } from '../../src/foundation/storage/database.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'

/** Writes to a wallet's tables. From then on the wallet reads them: it remembers only what it has written. */
export function rewriteRows<T>(
  wallet: Pick<Wallet, 'disown' | 'transaction'>,
  write: (tx: Tx) => Promise<T>,
): Promise<T> {
  wallet.disown()
  return wallet.transaction(write)
}
