/** `agent backup create` */
import { isAbsolute, resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { fieldsOf, missingWords } from '../../cli/backup.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Make a backup of the whole data folder, while everything runs (administrator)',
  description:
    'Copies every database as it was at one instant into a folder, which is there whole or not at all. What is sealed stays sealed: keep a copy of the master key elsewhere, or have it in there with --with-master-key, and whoever has the folder can read everything. Exits with 1 when the file of a wallet cannot be read; the others are in the backup then.',
  examples: [
    'agent backup create /var/backups/agent-monday',
    'agent backup create ./backup && agent backup verify ./backup',
  ],
  args: {
    folder: argument('folder to make, on the machine of the daemon'),
  },
  flags: {
    'with-master-key': Flags.boolean({ description: 'put a copy of the master key into it' }),
  },
  timeoutMs: 86_400_000,
  async run(context) {
    const { args, flags, call, print, say, suggest } = context
    const folder = resolveFolder(context, args.folder)
    const made = await call('POST /_system/backups', {
      body: { folder, includesMasterKey: flags['with-master-key'] },
    })
    print(made.folder, fieldsOf(made))
    for (const line of missingWords(made)) say(line)
    if (made.missing.length > 0) process.exitCode = 1
    if (made.includesMasterKey) say('The master key is in it: whoever has the folder can read everything.')
    suggest(`agent backup verify ${made.folder}`, made.missing.length > 0 ? 'agent doctor' : undefined)
    return made
  },
})

/** A path as the daemon can use it. @throws {UsageError} when only the machine of the daemon knows what it would be there. */
function resolveFolder({ getAccess }: Context, folder: string): string {
  if (isAbsolute(folder) || getAccess().profile?.kind === 'local') return resolve(folder)
  throw new UsageError(
    `${folder} is not an absolute path. The folder is made on the machine of the daemon, ${getAccess().url}.`,
  )
}
