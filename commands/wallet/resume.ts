import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Resume a wallet that was suspended by an export with --move (administrator)',
  description: 'Use this to cancel a move. The wallet must not be in use at the other agent.',
  examples: ['agent wallet resume <id>'],
  args: idOf('wallet'),
  async run({ args, call, print }) {
    const wallet = await call('POST /wallets/{walletId}/resumption', { path: { walletId: args.id } })
    print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['here', 'active'],
    ])
    return wallet
  },
})
