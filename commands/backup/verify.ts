/** `agent backup verify` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { askOfBackup, fieldsOf, keyWords, missingWords } from '../../cli/backup.ts'
import { childEnv, findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { fields } from '../../cli/format/table.ts'
import { PlainCommand } from '../../cli/plain.ts'

export default class BackupVerify extends PlainCommand {
  static override summary = 'Verify that a backup is whole, as it was made, and opens with the master key'
  static override description =
    'Needs no daemon. The master key is the one in the backup, otherwise the one that a daemon of the data folder would have. Exits with 1 when a file is not as it was made, 4 when the master key does not open the backup.'
  static override examples = ['<%= config.bin %> backup verify /var/backups/agent-monday']
  static override args = {
    folder: Args.string({ required: true, ignoreStdin: true, description: 'folder of the backup' }),
  }
  static override flags = {
    'data-dir': Flags.string({ description: 'data folder that has the master key (AGENT_DATA_DIR)' }),
    profile: Flags.string({
      char: 'p',
      description: 'profile of the daemon whose data folder that is (AGENT_PROFILE)',
    }),
  }

  async run() {
    const { args, flags } = await this.parse(BackupVerify)
    const env = childEnv({ AGENT_DATA_DIR: findDataDir(flags, fromProcess()) })
    const backup = await askOfBackup('verify', args.folder, env)
    const isSound = backup.faults.length === 0
    this.log(
      fields(
        [
          ...fieldsOf(backup),
          ['files', isSound ? 'as they were made' : 'NOT as they were made'],
          ['master key', keyWords(backup)],
        ],
        this.width,
      ),
    )
    for (const { path, reason } of backup.faults) this.say(`${path} ${reason}.`)
    for (const line of missingWords(backup)) this.say(line)
    if (!isSound) process.exitCode = 1
    else if (backup.masterKey === 'does not open') process.exitCode = 4
    return backup
  }
}
