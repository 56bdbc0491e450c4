/** Public requests of others than the tenant, such as whoever has a link. */
import type { Agent } from '../../src/agent/agent.ts'
import type { Problem } from '../../src/foundation/problem.ts'
import { unlessDeleted } from '../../src/foundation/storage/transferred.ts'
import { withQuotas } from '../../src/wallet/quotas.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'

/**
 * Runs `use` with a wallet and the quotas of others.
 *
 * @throws {Problem} `unknown` if the wallet was deleted; 507 from a transaction that exceeds a quota
 */
export function useForOthers<T>(
  { wallets }: Pick<Agent, 'wallets'>,
  walletId: string,
  use: (wallet: Wallet) => Promise<T>,
  unknown: () => Problem,
): Promise<T> {
  return unlessDeleted(
    wallets.use(walletId, (wallet) => use(withQuotas(wallet, 'others'))),
    unknown,
  )
}
