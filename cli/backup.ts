/** Verifies and restores backups in a process of its own, since commands import no database. */
import type { Answer } from './client/api.ts'
import { askProgram, ProgramFailed } from './daemon/launch.ts'
import { CommandError } from './errors/errors.ts'

/** The content of a backup, and the result of its verification. */
export type BackupAtRest = Omit<Answer<'POST /_system/backups'>, 'heldMs' | 'node'> & {
  masterKey: 'opens' | 'does not open' | 'absent'
  /** The key from before a rotation that opens the backup. */
  keptKey?: string
  faults: { path: string; reason: string }[]
}

/**
 * Runs the task in the environment of a daemon, and returns the content of the backup: `restore` writes its
 * data folder, `load` its database.
 *
 * @throws {CommandError} when there is no backup, or it cannot be restored.
 */
export async function askOfBackup(
  task: 'verify' | 'restore' | 'load',
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<BackupAtRest> {
  try {
    // The program is built together with this one, so its answer has this shape.
    const answer = (await askProgram('backup', [task, folder], env)) as
      { backup: BackupAtRest } | { failure: string; exitCode: number }
    if ('backup' in answer) return answer.backup
    throw new CommandError(answer.failure, answer.exitCode)
  } catch (error) {
    if (!(error instanceof ProgramFailed)) throw error
    const verb = task === 'verify' ? 'verify' : 'restore'
    throw new CommandError(`The process to ${verb} the backup has failed: ${error.message}.`, 1)
  }
}

type Backup = Omit<BackupAtRest, 'masterKey' | 'faults'>

export function fieldsOf(backup: Backup): [name: string, value: unknown][] {
  const { folder, instant, wallets, missing, bytes, agentVersion } = backup
  return [
    ['folder', folder],
    ['as of', instant],
    ['wallets', missing.length > 0 ? `${wallets}, and ${missing.length} not included` : wallets],
    ['size', `${(bytes / 1_000_000).toFixed(1)} MB`],
    ['version', agentVersion],
  ]
}

/** The master key of a backup, in words. */
export function keyWords({ masterKey, includesMasterKey, keptKey }: BackupAtRest): string {
  if (keptKey !== undefined) return `the key from before a rotation opens the backup: ${keptKey}`
  if (masterKey === 'opens')
    return includesMasterKey ? 'included, opens the backup' : 'the configured key opens the backup'
  if (masterKey === 'absent') return 'not available'
  return includesMasterKey
    ? 'included, does not open the backup'
    : 'the configured key does not open the backup'
}

/** One line for each wallet that is missing in a backup. */
export function missingWords({ missing }: Backup): string[] {
  return missing.map(({ walletId, reason }) => `The wallet ${walletId} is not included: ${reason}.`)
}
