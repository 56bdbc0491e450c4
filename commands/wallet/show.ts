import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a wallet',
  examples: ['agent wallet show <id>'],
  args: idOf('wallet'),
  async run({ args, call, print }) {
    const wallet = await call('GET /wallets/{walletId}', { path: { walletId: args.id } })
    print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['created', wallet.createdAt],
      ['updated', wallet.updatedAt],
      [
        'here',
        wallet.movedAt === undefined
          ? undefined
          : `suspended since ${wallet.movedAt}, by an export with --move`,
      ],
    ])
    return wallet
  },
})
