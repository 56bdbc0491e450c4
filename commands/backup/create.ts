import { isAbsolute, resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { fieldsOf, missingWords } from '../../cli/backup.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Back up all data while the daemon runs (administrator)',
  description:
    'Copies a consistent snapshot of all databases into a new folder. The folder appears when it is complete. Over PostgreSQL, the node that gets the request makes the backup on its machine, of all nodes’ wallets and without a pause. Secrets stay encrypted with the master key: keep a copy of the key elsewhere, or include it with --with-master-key; the folder is then readable without any other key. Exits with 1 if a wallet cannot be read; the backup then has all other wallets.',
  examples: [
    'agent backup create /var/backups/agent-monday',
    'agent backup create ./backup && agent backup verify ./backup',
  ],
  args: {
    folder: argument('the new folder, on the machine of the daemon'),
  },
  flags: {
    'with-master-key': Flags.boolean({ description: 'include a copy of the master key' }),
  },
  timeoutMs: 86_400_000,
  async run(context) {
    const { args, flags, call, print, say, suggest } = context
    const folder = resolveFolder(context, args.folder)
    const made = await call('POST /_system/backups', {
      body: { folder, includesMasterKey: flags['with-master-key'] },
    })
    const node: [string, unknown][] = made.node === undefined ? [] : [['node', made.node]]
    print(made.folder, [...fieldsOf(made), ...node])
    for (const line of missingWords(made)) say(line)
    if (made.missing.length > 0) process.exitCode = 1
    say(
      made.includesMasterKey
        ? 'The backup contains the master key: keep the folder secret.'
        : 'The master key is not in the backup, and nobody can read the backup without it: keep a copy of the key elsewhere (docs/operate/keys.md), or use --with-master-key.',
    )
    suggest(`agent backup verify ${made.folder}`, made.missing.length > 0 ? 'agent doctor' : undefined)
    return made
  },
})

/**
 * Makes a path absolute.
 *
 * @throws {UsageError} for a relative path when the daemon runs on another machine.
 */
function resolveFolder({ getAccess }: Context, folder: string): string {
  if (isAbsolute(folder) || getAccess().profile?.kind === 'local') return resolve(folder)
  throw new UsageError(
    `${folder} is not an absolute path. The folder is created on the machine of the daemon, ${getAccess().url}.`,
  )
}
