/** The data folder: created, private to its owner, and locked by one daemon. */
import { accessSync, chmodSync, constants } from 'node:fs'
import { join } from 'node:path'
import { folderFault, makeFolder } from '../../src/foundation/private-files.ts'
import { reasonOf } from '../../src/foundation/reason.ts'
import { readRunning } from '../../src/foundation/running.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { DamagedFileError } from '../../src/foundation/storage/file-errors.ts'
import { takeLock } from '../../src/foundation/storage/sqlite.ts'

/** Where the name of the folder is from, for messages. */
const usual = 'AGENT_DATA_DIR (--data-dir)'

/**
 * Creates the folder if it is missing, and locks it until the returned function is called. `option` names it
 * in messages.
 *
 * @throws {StartError} when it cannot be used, or another daemon serves it. The folder is then unchanged.
 */
export function lockDataFolder(folder: string, option = usual): () => void {
  prepare(folder, option)
  const release = lock(join(folder, 'daemon.lock'))
  if (release) return release
  const running = readRunning(folder)
  const who = running ? `The daemon with process id ${running.pid} at ${running.url}` : 'Another daemon'
  throw new StartError(
    `${who} serves the data folder ${folder} already. Stop it with \`agent daemon stop\`, or name another folder in ${option}.`,
    5,
  )
}

function prepare(folder: string, option: string): void {
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    chmodSync(folder, 0o700)
  } catch (error) {
    const { message } = folderFault(error, folder)
    const wayOut = `Correct that, or name another folder in ${option}.`
    throw new StartError(`The data folder ${folder} cannot be used: ${message}. ${wayOut}`, 1, {
      cause: error,
    })
  }
}

function lock(path: string): (() => void) | undefined {
  try {
    return takeLock(path)
  } catch (error) {
    if (error instanceof StartError) throw error
    const reason =
      error instanceof DamagedFileError ? error.message : `${path} cannot be opened: ${reasonOf(error)}`
    const wayOut =
      'The file holds no data: make sure that no daemon serves this folder, remove the file, and start again.'
    throw new StartError(`The lock file ${reason}. ${wayOut}`, 1, { cause: error })
  }
}
