/** The data folder: created, private to its owner, and locked by one daemon. */
import { accessSync, chmodSync, constants, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { folderFault, makeFolder } from '../../src/foundation/private-files.ts'
import { reasonOf } from '../../src/foundation/reason.ts'
import { readRunning } from '../../src/foundation/running.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { DamagedFileError } from '../../src/foundation/storage/file-errors.ts'
import { takeLock } from '../../src/foundation/storage/sqlite.ts'

/** Where the name of the folder is from, for messages. */
const usual = 'AGENT_DATA_DIR (--data-dir)'

/** How long a start waits for the worker processes of a daemon that was killed. */
const workersEndMs = 10_000

/**
 * Creates the folder if it is missing, and locks it until the returned function is called. `option` names it
 * in messages.
 *
 * @throws {StartError} when it cannot be used, or another daemon serves it. The folder is then unchanged.
 */
export async function lockDataFolder(folder: string, option = usual): Promise<() => void> {
  prepare(folder, option)
  const release = lock(join(folder, 'daemon.lock'))
  if (release) {
    for (const name of readdirSync(folder).filter((each) => /^worker-\d+\.lock$/.test(each)))
      (await lockOfWorker(join(folder, name)))()
    return release
  }
  const running = readRunning(folder)
  const who = running ? `The daemon with process id ${running.pid} at ${running.url}` : 'Another daemon'
  throw new StartError(
    `${who} serves the data folder ${folder} already. Stop it with \`agent daemon stop\`, or name another folder in ${option}.`,
    5,
  )
}

/**
 * Locks the folder for a worker process of the daemon: a worker that outlives its daemon must not write to
 * wallets of the next one.
 *
 * @throws {StartError} when an earlier process of this worker does not end
 */
export function lockForWorker(folder: string, name: string): Promise<() => void> {
  return lockOfWorker(join(folder, `${name}.lock`))
}

async function lockOfWorker(path: string): Promise<() => void> {
  for (const begun = performance.now(); performance.now() < begun + workersEndMs; await sleep(50)) {
    const release = lock(path)
    if (release) return release
  }
  throw new StartError(
    `A worker process of an earlier daemon has not ended: it holds the lock ${path}. End the process, and start again.`,
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
