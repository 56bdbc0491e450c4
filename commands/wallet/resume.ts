/** `agent wallet resume` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'

export default class WalletResume extends AgentCommand {
  static override summary = 'Have a wallet go on here that was exported with --move (administrator)'
  static override description =
    'For a move that came to nothing. It must not work at the other agent: two agents cannot act for one wallet.'
  static override examples = ['<%= config.bin %> wallet resume <id>']
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the wallet' }),
  }

  async run() {
    const { args } = await this.parse(WalletResume)
    const wallet = await this.call('POST /wallets/{walletId}/resumption', { path: { walletId: args.id } })
    this.print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['here', 'goes on'],
    ])
    return wallet
  }
}
