/** Checks that the lists of authorities that wallets trust are the latest of their providers. */
import type { OverdueList } from '../../wallet/trust-anchors/vical.ts'
import type { Finding } from './check.ts'

/** `overdue`: the list of each wallet that has been overdue for longest. */
export function checkTrustLists(overdue: readonly (OverdueList & { walletId: string })[]): Finding {
  const [first, ...more] = overdue.toSorted((a, b) => (a.nextUpdate < b.nextUpdate ? -1 : 1))
  if (!first) return { status: 'ok', detail: 'No wallet has a list of authorities that is overdue.' }
  const { id, provider, nextUpdate, walletId } = first
  const others = more.length === 0 ? '' : ` Wallets with another one: ${more.length}.`
  return {
    status: 'warning',
    detail: `The list of authorities ${id} (${provider}) of the wallet ${walletId} should have been replaced on ${nextUpdate}. Its authorities stay trusted.${others}`,
    hint: 'agent trust add <file of the latest list> --signer <certificate of the provider>   # as the wallet’s tenant',
  }
}
