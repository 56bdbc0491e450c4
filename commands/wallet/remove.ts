import { withContent } from '../../cli/format/wallet.ts'
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'wallet',
  summary: 'Remove a wallet with all that it contains, for good',
  description:
    'For a wallet whose tenant was removed. A tenant that it still has is removed too, with its keys; of several, remove the others first. Destroys the wallet’s key and removes its files. The audit log keeps its entries; published DIDs, schemas and credential definitions stay. Needs the administrator’s key.',
  async question(call, id) {
    const { name } = await call('GET /wallets/{walletId}', { path: { walletId: id } })
    const content = await withContent(call, id)
    return `Remove the wallet ${name}${content}, and its tenant if it has one? This cannot be undone.`
  },
  remove: (call, id) => call('DELETE /wallets/{walletId}', { path: { walletId: id } }),
})
