/** `agent wallet export` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { writeNewFile } from '../../cli/input/files.ts'
import { passphraseFlags, readPassphrase } from '../../cli/input/secrets.ts'

export default class WalletExport extends AgentCommand {
  static override summary = 'Export a wallet into a file that a passphrase opens (administrator)'
  static override description =
    'With everything in it: connections, DIDs and their keys, credentials, webhooks, and what it has published here. Tenants and their API keys stay. The wallet goes on here meanwhile and afterwards, and the file is a copy: a wallet must not work at two agents. With --move it rests here from the moment of the export, until `agent wallet resume`.'
  static override examples = [
    '<%= config.bin %> wallet export <id> --output acme.wallet',
    '<%= config.bin %> wallet export <id> --output acme.wallet --move --passphrase-file passphrase.txt',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the wallet' }),
  }
  static override flags = {
    output: Flags.string({ char: 'o', required: true, description: 'the new file (0600)' }),
    move: Flags.boolean({ description: 'have the wallet rest here, to go on at another agent' }),
    ...passphraseFlags,
  }

  async run() {
    const { args, flags } = await this.parse(WalletExport)
    const { output, move } = flags
    const options = {
      json: this.jsonEnabled(),
      quiet: this.isQuiet,
      warn: (text: string) => this.say(text),
      isNew: true,
    }
    let mayRest = false
    const ask = async () => {
      const passphrase = await readPassphrase(flags, options)
      mayRest = move
      return this.files.download('POST /wallets/{walletId}/export', {
        path: { walletId: args.id },
        body: { passphrase, move },
      })
    }
    const bytes = await writeNewFile('output', output, ask).catch((error: unknown) => {
      if (mayRest)
        this.say(
          `If the wallet rests now (agent wallet show ${args.id}), export it once more, or: agent wallet resume ${args.id}`,
        )
      throw error
    })
    this.print(output, [
      ['wallet', args.id],
      ['file', output],
      ['bytes', bytes],
      ['here', move ? 'rests' : 'goes on'],
    ])
    if (!this.common.quiet) this.say(`\nAt the other agent: agent wallet import ${output}`)
    this.suggest(move ? `agent wallet resume ${args.id}   # if it is to go on here` : undefined)
    return { walletId: args.id, file: output, bytes, moved: move }
  }
}
