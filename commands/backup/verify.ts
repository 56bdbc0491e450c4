import * as Flags from '@oclif/core/flags'
import { askOfBackup, fieldsOf, keyWords, missingWords } from '../../cli/backup.ts'
import { childEnv, findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineLocalCommand({
  summary: 'Verify that a backup is complete and unaltered, and that the master key opens it',
  description:
    'Needs no daemon. Uses the master key in the backup, otherwise the one that a daemon of the data folder would use. Exits with 1 if a file was altered, 4 if the master key does not open the backup.',
  examples: ['agent backup verify /var/backups/agent-monday'],
  args: {
    folder: argument('folder of the backup'),
  },
  flags: {
    'data-dir': Flags.string({ description: 'data folder with the master key (AGENT_DATA_DIR)' }),
    profile: Flags.string({
      char: 'p',
      description: 'profile of the daemon whose data folder that is (AGENT_PROFILE)',
    }),
  },
  async run({ args, flags, say, printFields }) {
    const around = fromProcess()
    const env = childEnv({
      AGENT_DATA_DIR: findDataDir(flags, around),
      AGENT_PROFILE: flags.profile ?? around.AGENT_PROFILE,
    })
    const backup = await askOfBackup('verify', args.folder, env)
    const isSound = backup.faults.length === 0
    printFields([
      ...fieldsOf(backup),
      ['files', isSound ? 'unchanged' : 'CHANGED or missing'],
      ['master key', keyWords(backup)],
    ])
    for (const { path, reason } of backup.faults) say(`${path} ${reason}.`)
    for (const line of missingWords(backup)) say(line)
    if (!isSound) process.exitCode = 1
    else if (backup.masterKey === 'does not open') process.exitCode = 4
    return backup
  },
})
