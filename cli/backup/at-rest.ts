/** Has a backup verified or restored: by a process of its own, since commands know nothing of databases. */
import type { Answer } from '../client/answer.ts'
import { askProgram, ProgramFailed } from '../daemon/ask-program.ts'
import { CommandError } from '../errors/usage.ts'

/** What a backup holds, and whether it is as it was made. */
export type BackupAtRest = Omit<Answer<'POST /_system/backups'>, 'heldMs'> & {
  masterKey: 'opens' | 'does not open' | 'absent'
  faults: { path: string; reason: string }[]
}

/**
 * Runs the process with the environment that a daemon of the data folder would be given, and returns what is in the backup.
 *
 * @throws {CommandError} when there is no backup, or it cannot be restored there.
 */
export async function askOfBackup(
  task: 'verify' | 'restore',
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<BackupAtRest> {
  try {
    // It is this program's own process, built with it (`daemon/server/backup.ts`).
    const answer = (await askProgram('backup', [task, folder], env)) as
      { backup: BackupAtRest } | { failure: string; exitCode: number }
    if ('backup' in answer) return answer.backup
    throw new CommandError(answer.failure, answer.exitCode)
  } catch (error) {
    if (!(error instanceof ProgramFailed)) throw error
    throw new CommandError(
      `The process that was to ${task} the backup did not come to an end: ${error.message}.`,
      1,
    )
  }
}
