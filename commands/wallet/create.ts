/** `agent wallet create` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { readText } from '../_input/json.ts'

export default class WalletCreate extends AgentCommand {
  static override summary = 'Create a wallet'
  static override description = 'Needs the administrator’s key. `agent tenant create` makes a wallet and lets a tenant in, in one go.'
  static override examples = ['<%= config.bin %> wallet create acme', '<%= config.bin %> wallet create acme --seed @seed.hex']
  static override args = { name: Args.string({ required: true, ignoreStdin: true, description: 'what the wallet is called' }) }
  static override flags = {
    seed: Flags.string({
      description: 'BIP32 seed, 128 hexadecimal digits, from a file (@seed.hex) or standard input (@-); random when left out',
    }),
    id: Flags.string({ description: 'id of the wallet (UUID); made up when left out' }),
  }

  async run() {
    const { args, flags } = await this.parse(WalletCreate)
    if (flags.seed !== undefined && !flags.seed.startsWith('@'))
      this.error('--seed is a secret and is not typed: give @file, or @- for standard input.', { exit: 2 })
    const seed = flags.seed === undefined ? undefined : readText('seed', flags.seed).trim()
    const wallet = await this.call('POST /wallets', { body: { name: args.name, seed, id: flags.id } })
    this.print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['created', wallet.createdAt],
    ])
    this.suggest(`agent tenant create <name> --wallet ${wallet.id}`)
    return wallet
  }
}
