/** `agent wallet import` */
import { createReadStream, statSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import type { Answer } from '../../cli/client/api.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { passphraseFlags, readPassphrase } from '../../cli/input/secrets.ts'
import { systemReason } from '../../src/base/system-reason.ts'

export default class WalletImport extends AgentCommand {
  static override summary = 'Import a wallet that another agent has exported (administrator)'
  static override description =
    'All of it, or nothing. Its connections go on working when the public addresses (REST_SERVICE_URL, DIDCOMM_SERVICE_URL) come along from the other agent. A wallet that rests here, since it was exported with --move, is replaced by what it has become.'
  static override examples = [
    '<%= config.bin %> wallet import acme.wallet',
    '<%= config.bin %> wallet import acme.wallet --passphrase-file passphrase.txt --id 9b0dba12-7d9c-4f0d-9f3c-7d2d8a5a4f10',
  ]
  static override args = {
    file: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'file that `agent wallet export` wrote',
    }),
  }
  static override flags = {
    id: Flags.string({ description: 'another id than it had (UUID)' }),
    name: Flags.string({ description: 'another name than it had' }),
    ...passphraseFlags,
  }

  async run() {
    const { args, flags } = await this.parse(WalletImport)
    const length = lengthOf(args.file)
    // Who is not let in is told so before a long file is on its way.
    await this.call('GET /wallets', { query: { limit: 1 } })
    const passphrase = await readPassphrase(flags, {
      json: this.jsonEnabled(),
      quiet: this.isQuiet,
      warn: (text) => this.say(text),
    })
    const { id, name } = flags
    const headers = { 'x-passphrase': Buffer.from(passphrase).toString('base64url') }
    const file = { content: createReadStream(args.file), length }
    const answer = await this.files.upload('POST /wallets/import', { query: { id, name }, headers, ...file })
    const wallet = answer as Answer<'POST /wallets/import'>
    this.print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['created', wallet.createdAt],
    ])
    this.suggest(
      `agent tenant create <name> --wallet ${wallet.id}   # its tenants’ keys have stayed at the other agent`,
    )
    return wallet
  }
}

/** The length of a file that there is. @throws {UsageError} */
function lengthOf(path: string): number {
  try {
    const stat = statSync(path)
    if (stat.isFile()) return stat.size
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${systemReason(error)}.`)
  }
  throw new UsageError(`${path} is no file.`)
}
