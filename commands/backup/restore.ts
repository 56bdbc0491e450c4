/** `agent backup restore` */
import { join, resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { askOfBackup, fieldsOf, keyWords, missingWords } from '../../cli/backup.ts'
import { childEnv } from '../../cli/client/settings.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineLocalCommand({
  summary: 'Restore a backup into a new data folder',
  description:
    'Needs no daemon. The data folder must not exist, or must be empty; it appears when it is complete. Every file is verified. Changes after the backup are lost: API keys and credentials that were revoked since then are valid again, and wallets that were moved to another agent work here again.',
  examples: [
    'agent backup restore /var/backups/agent-monday --data-dir ./restored',
    'agent backup restore ./backup --data-dir ./restored && agent daemon start --data-dir ./restored',
  ],
  args: {
    folder: argument('folder of the backup'),
  },
  flags: {
    'data-dir': Flags.string({
      required: true,
      description: 'the new data folder',
    }),
  },
  async run({ args, flags, say, suggest, printFields }) {
    const dataDir = resolve(flags['data-dir'])
    const { faults, ...backup } = await askOfBackup(
      'restore',
      args.folder,
      childEnv({ AGENT_DATA_DIR: dataDir }),
    )
    if (faults.length > 0) {
      const [{ path, reason }] = faults as [(typeof faults)[number]]
      const others = faults.length > 1 ? `, and ${faults.length - 1} more files are not sound` : ''
      throw new CommandError(
        `Nothing was restored: ${path} ${reason}${others}.`,
        1,
        `agent backup verify ${args.folder}`,
      )
    }
    printFields([...fieldsOf(backup), ['master key', keyWords({ ...backup, faults })]])
    for (const line of missingWords(backup)) say(line)
    say(
      `A wallet that was moved to another agent after ${backup.instant} works here again. Suspend it: agent wallet export <id> --move`,
    )
    if (backup.masterKey === 'absent')
      say(`Put the master key into ${join(dataDir, 'master.key')}, or name it in AGENT_MASTER_KEY_FILE.`)
    if (backup.masterKey === 'does not open')
      say(
        'The available master key is a different one. The daemon needs the master key of the time of the backup.',
      )
    suggest(`agent daemon start --data-dir ${dataDir}`)
    return { ...backup, faults }
  },
})
