/**
 * A process that verifies a backup, or restores one to the data folder of its environment, and tells its parent what it found (`agent
 * backup`). It is one of its own, since the command line knows nothing of databases, and needs no daemon.
 */
import { resolve } from 'node:path'
import { restoreBackup } from '../../src/backup/restore.ts'
import { verifyBackup, type VerifiedBackup } from '../../src/backup/verify.ts'
import { readConfig } from '../../src/base/config.ts'
import { StartError } from '../../src/base/start-error.ts'

/** What is told: what is in the backup, or in one sentence why that cannot be told, and an exit code. */
export type BackupAnswer = { backup: VerifiedBackup } | { failure: string; exitCode: number }

async function answer([task, folder = '']: readonly string[]): Promise<BackupAnswer> {
  try {
    const config = readConfig(process.env)
    const work = task === 'restore' ? restoreBackup : verifyBackup
    return { backup: await work(resolve(folder), config) }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return { failure: error.message, exitCode: error.exitCode }
  }
}

process.send?.(await answer(process.argv.slice(2)), () => process.exit())
