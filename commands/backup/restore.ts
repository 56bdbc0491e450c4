import { join, resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { askOfBackup, type BackupAtRest, fieldsOf, keyWords, missingWords } from '../../cli/backup.ts'
import { childEnv } from '../../cli/client/settings.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineLocalCommand({
  summary: 'Restore a backup into a new data folder, or into an empty PostgreSQL database',
  description:
    'Needs no daemon. Backups of both stores can be restored into either. The data folder must not exist, or must be empty; it appears when it is complete. With --database, the database of AGENT_DATABASE_URL must have no data of an agent, and no node may run over it; everything is loaded in one transaction. Every file is verified. Changes after the backup are lost: API keys and credentials that were revoked since then are valid again, and wallets that were moved to another agent work here again.',
  examples: [
    'agent backup restore /var/backups/agent-monday --data-dir ./restored',
    'agent backup restore ./backup --data-dir ./restored && cp master.key ./restored/ && agent daemon start --data-dir ./restored',
    'AGENT_DATABASE_URL=postgres://agent:secret@db/agent agent backup restore ./backup --database',
  ],
  args: {
    folder: argument('folder of the backup'),
  },
  flags: {
    'data-dir': Flags.string({
      exactlyOne: ['data-dir', 'database'],
      description: 'the new data folder',
    }),
    database: Flags.boolean({ description: 'into the PostgreSQL database of AGENT_DATABASE_URL' }),
  },
  async run({ args, flags, say, suggest, printFields }) {
    const dataDir = flags['data-dir'] === undefined ? undefined : resolve(flags['data-dir'])
    const { faults, ...backup } = await askOfBackup(
      dataDir === undefined ? 'load' : 'restore',
      args.folder,
      childEnv(dataDir === undefined ? {} : { AGENT_DATA_DIR: dataDir }),
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
    const keyLine = keyAdvice(backup, dataDir)
    if (keyLine !== undefined) say(keyLine)
    suggest(
      backup.masterKey === 'absent' && dataDir !== undefined
        ? `cp <master key of the time of the backup> ${join(dataDir, 'master.key')}`
        : undefined,
      dataDir === undefined ? 'agent daemon start' : `agent daemon start --data-dir ${dataDir}`,
    )
    return { ...backup, faults }
  },
})

/** How the master key gets to the daemon, if the operator has to do it. */
function keyAdvice(
  { masterKey, includesMasterKey, keptKey, folder }: Omit<BackupAtRest, 'faults'>,
  dataDir: string | undefined,
): string | undefined {
  if (keptKey !== undefined)
    return `The daemon needs the master key of the time of the backup, which is ${keptKey}: name it in AGENT_MASTER_KEY_FILE, or set AGENT_MASTER_KEY to its content.`
  if (masterKey === 'does not open')
    return 'The available master key is a different one. The daemon needs the master key of the time of the backup.'
  if (dataDir === undefined && includesMasterKey)
    return `The backup contains the master key: set AGENT_MASTER_KEY of all nodes to the content of ${join(folder, 'master.key')}.`
  if (masterKey !== 'absent') return undefined
  return dataDir === undefined
    ? 'Set AGENT_MASTER_KEY of all nodes to the master key of the time of the backup.'
    : `Put the master key into ${join(dataDir, 'master.key')}, or name it in AGENT_MASTER_KEY_FILE.`
}
