/** `agent wallet show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'

export default class WalletShow extends AgentCommand {
  static override summary = 'Show a wallet'
  static override examples = ['<%= config.bin %> wallet show <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the wallet' }),
  }

  async run() {
    const { args } = await this.parse(WalletShow)
    const wallet = await this.call('GET /wallets/{walletId}', { path: { walletId: args.id } })
    this.print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['created', wallet.createdAt],
      ['updated', wallet.updatedAt],
      [
        'here',
        wallet.movedAt === undefined ? undefined : `rests since ${wallet.movedAt}: it was exported to move`,
      ],
    ])
    return wallet
  }
}
