/** `agent wallet create` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { readSeed, seedFlags } from '../../cli/input/secrets.ts'

export default class WalletCreate extends AgentCommand {
  static override summary = 'Create a wallet'
  static override description =
    'Needs the administrator’s key. `agent tenant create` makes a wallet and lets a tenant in, in one go. Wallets of the same seed, or words, make the same DIDs; the words make it as in the Identus libraries, without the “mnemonic” of BIP-39 before the passphrase.'
  static override examples = [
    '<%= config.bin %> wallet create acme',
    '<%= config.bin %> wallet create acme --seed-file seed.hex',
    '<%= config.bin %> wallet create acme --mnemonic-file words.txt',
  ]
  static override args = {
    name: Args.string({ required: true, ignoreStdin: true, description: 'what the wallet is called' }),
  }
  static override flags = {
    ...seedFlags,
    id: Flags.string({ description: 'id of the wallet (UUID); made up when left out' }),
  }

  async run() {
    const { args, flags } = await this.parse(WalletCreate)
    const seed = await readSeed(flags, (text) => this.say(text))
    const wallet = await this.call('POST /wallets', { body: { name: args.name, seed, id: flags.id } })
    this.print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['created', wallet.createdAt],
    ])
    this.suggest(
      `agent tenant create <name> --wallet ${wallet.id}`,
      seed === undefined
        ? undefined
        : 'agent did restore   # with that tenant’s key: finds the DIDs of the seed again',
    )
    return wallet
  }
}
