/** `agent backup create` */
import { isAbsolute, resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { fieldsOf, missingWords } from '../../cli/backup.ts'
import { UsageError } from '../../cli/errors/errors.ts'

export default class BackupCreate extends AgentCommand {
  static override summary = 'Make a backup of the whole data folder, while everything runs (administrator)'
  static override description =
    'Copies every database as it was at one instant into a folder, which is there whole or not at all. What is sealed stays sealed: keep a copy of the master key elsewhere, or have it in there with --with-master-key, and whoever has the folder can read everything. Exits with 1 when the file of a wallet cannot be read; the others are in the backup then.'
  static override examples = [
    '<%= config.bin %> backup create /var/backups/agent-monday',
    '<%= config.bin %> backup create ./backup && <%= config.bin %> backup verify ./backup',
  ]
  static override args = {
    folder: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'folder to make, on the machine of the daemon',
    }),
  }
  static override flags = {
    'with-master-key': Flags.boolean({ description: 'put a copy of the master key into it' }),
  }

  /** All wallets of a large agent take their time. */
  protected override readonly timeoutMs = 86_400_000

  async run() {
    const { args, flags } = await this.parse(BackupCreate)
    const folder = this.#place(args.folder)
    const made = await this.call('POST /_system/backups', {
      body: { folder, includesMasterKey: flags['with-master-key'] },
    })
    this.print(made.folder, fieldsOf(made))
    for (const line of missingWords(made)) this.say(line)
    if (made.missing.length > 0) process.exitCode = 1
    if (made.includesMasterKey)
      this.say('The master key is in it: whoever has the folder can read everything.')
    this.suggest(`agent backup verify ${made.folder}`, made.missing.length > 0 ? 'agent doctor' : undefined)
    return made
  }

  /** A path as the daemon can use it. @throws {UsageError} when only the machine of the daemon knows what it would be there. */
  #place(folder: string): string {
    if (isAbsolute(folder) || this.access.profile?.kind === 'local') return resolve(folder)
    throw new UsageError(
      `${folder} is not an absolute path. The folder is made on the machine of the daemon, ${this.access.url}.`,
    )
  }
}
