/** Counts how often a worker opens wallets. */
import type { Wallet } from '../../../src/wallet/wallet.ts'
import type { Wallets } from '../../../src/wallet/wallets.ts'

/** The wallets of an agent with a count of uses by the worker. */
export function countPolls(wallets: Wallets): { counting: Wallets; polls: () => number } {
  let polls = 0
  const use = (id: string, work: (wallet: Wallet) => Promise<unknown>) => {
    polls++
    return wallets.use(id, work)
  }
  return { counting: { use } as Wallets, polls: () => polls }
}
