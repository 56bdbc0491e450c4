/** Restoration of a backup: into a data folder that is not there yet, whole or not at all. */
import { constants } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../base/config.ts'
import { folderFault, makeFolder } from '../base/private-files.ts'
import { across } from '../base/probe.ts'
import { reasonOf } from '../base/reason.ts'
import { StartError } from '../base/start-error.ts'
import { beginFolder, dropFolder, finishFolder, syncFile } from './atomic-folder.ts'
import { readList } from './manifest.ts'
import { verifyFiles, type VerifiedBackup } from './verify.ts'

/**
 * Copies a backup to `config.AGENT_DATA_DIR`, which must not be there, or be empty, and verifies the copy. What it returns has `faults` only
 * when nothing was restored.
 *
 * @throws {StartError} 1 when there is no backup, or it is of a newer release, 5 when the folder cannot be made; nothing is left then.
 */
export async function restoreBackup(from: string, config: Config): Promise<VerifiedBackup> {
  const list = readList(from)
  const to = resolve(config.AGENT_DATA_DIR)
  const part = begin(to)
  try {
    const copy = async () => {
      for (const { path } of list.files) await copyPrivately(join(from, path), join(part, path))
    }
    await across('backup-files', {}, copy)
    const verified = await verifyFiles(part, list, { ...config, AGENT_DATA_DIR: to })
    if (verified.faults.length > 0) await dropFolder(part)
    else await finishFolder(part, to, 'wallets')
    return { ...verified, folder: to }
  } catch (error) {
    await dropFolder(part)
    if (error instanceof StartError) throw error
    throw new StartError(`${to} was not restored: ${reasonOf(error)}.`, 1, { cause: error })
  }
}

/** A file that is missing is one of the faults. */
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
        ? 'there is something in it already'
        : folderFault(error, dirname(folder)).message
    throw new StartError(
      `${folder} cannot be restored into: ${reason}. Name a folder that is not there yet, or move what is there away.`,
      5,
      { cause: error },
    )
  }
}
