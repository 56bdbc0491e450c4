/** Restores a backup into a new data folder, completely or not at all. */
import { constants } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../foundation/config/config.ts'
import { folderFault, makeFolder } from '../../foundation/private-files.ts'
import { across } from '../../foundation/probe.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { StartError } from '../../foundation/start-error.ts'
import { beginFolder, discardFolder, finishFolder, syncFile } from './atomic-folder.ts'
import { readManifest } from './manifest.ts'
import { verifyFiles, type VerifiedBackup } from './verify.ts'

/**
 * Copies a backup to `config.AGENT_DATA_DIR`, which must not exist or be empty, and verifies the copy. If the
 * result has `faults`, nothing was restored.
 *
 * @throws {StartError} 1 when there is no backup, or a newer release made it; 5 when the folder cannot be
 * created. Nothing is left then.
 */
export async function restoreBackup(from: string, config: Config): Promise<VerifiedBackup> {
  const manifest = readManifest(from)
  const to = resolve(config.AGENT_DATA_DIR)
  const part = begin(to)
  try {
    const copy = async () => {
      for (const { path } of manifest.files) await copyPrivately(join(from, path), join(part, path))
    }
    await across('backup-files', {}, copy)
    const verified = await verifyFiles(part, manifest, { ...config, AGENT_DATA_DIR: to })
    if (verified.faults.length > 0) await discardFolder(part)
    else await finishFolder(part, to, 'wallets')
    return { ...verified, folder: to }
  } catch (error) {
    await discardFolder(part)
    if (error instanceof StartError) throw error
    throw new StartError(`${to} was not restored: ${reasonOf(error)}.`, 1, { cause: error })
  }
}

/** A missing file is skipped: the verification reports it. */
async function copyPrivately(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await chmod(to, 0o600)
  await syncFile(to)
}

function begin(folder: string): string {
  try {
    makeFolder(dirname(folder))
    return beginFolder(folder, 'wallets')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason =
      code === 'EEXIST' || code === 'ENOTDIR'
        ? 'it is not empty'
        : folderFault(error, dirname(folder)).message
    throw new StartError(
      `Cannot restore into ${folder}: ${reason}. Use a new folder, or move the existing one away.`,
      5,
      { cause: error },
    )
  }
}
