/** `agent wallet resume` */
import { defineCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Have a wallet go on here that was exported with --move (administrator)',
  description:
    'For a move that came to nothing. It must not work at the other agent: two agents cannot act for one wallet.',
  examples: ['agent wallet resume <id>'],
  args: {
    id: argument('id of the wallet'),
  },
  async run({ args, call, print }) {
    const wallet = await call('POST /wallets/{walletId}/resumption', { path: { walletId: args.id } })
    print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['here', 'goes on'],
    ])
    return wallet
  },
})
