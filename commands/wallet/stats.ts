import { defineCommand } from '../../cli/define-command.ts'
import { statsFields } from '../../cli/format/wallet.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Count what a wallet contains: records, credentials, DIDs, events, bytes',
  description: 'A tenant sees its own wallet. Another wallet needs the administrator’s key.',
  examples: ['agent wallet stats <id>', 'agent wallet stats <id> --json'],
  args: idOf('wallet'),
  async run({ args, call, print }) {
    const stats = await call('GET /wallets/{walletId}/stats', { path: { walletId: args.id } })
    print(stats.walletId, statsFields(stats))
    return stats
  },
})
