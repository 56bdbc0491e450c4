/**
 * The process of `agent backup verify` and `agent backup restore`. It sends its result to its parent.
 *
 * It is a process of its own, because the command line does not load the database, and a daemon is not
 * needed.
 */
import { resolve } from 'node:path'
import { loadBackup } from '../../src/operations/backup/load.ts'
import { restoreBackup } from '../../src/operations/backup/restore.ts'
import { verifyBackup, type VerifiedBackup } from '../../src/operations/backup/verify.ts'
import { configure } from '../../src/foundation/config/configure.ts'
import { StartError } from '../../src/foundation/start-error.ts'

/** The content of the backup, or the reason of the failure in one sentence and an exit code. */
export type BackupAnswer = { backup: VerifiedBackup } | { failure: string; exitCode: number }

/** `restore` writes a data folder, `load` a PostgreSQL database. */
const tasks = { verify: verifyBackup, restore: restoreBackup, load: loadBackup }

async function answer([task, folder = '']: readonly string[]): Promise<BackupAnswer> {
  try {
    const { config } = await configure(process.env)
    return { backup: await tasks[task as keyof typeof tasks](resolve(folder), config) }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return { failure: error.message, exitCode: error.exitCode }
  }
}

process.send?.(await answer(process.argv.slice(2)), () => process.exit())
