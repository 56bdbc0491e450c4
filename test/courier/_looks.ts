/** A courier that is watched: how often it looks into wallets. */
import type { Wallet } from '../../src/wallet/wallet.ts'
import type { Wallets } from '../../src/wallet/wallets.ts'

/** The wallets of an agent as a courier uses them, and how often it has. */
export function countLooks(wallets: Wallets): { counting: Wallets; looks: () => number } {
  let looks = 0
  const use = (id: string, work: (wallet: Wallet) => Promise<unknown>) => {
    looks++
    return wallets.use(id, work)
  }
  return { counting: { use } as Wallets, looks: () => looks }
}
