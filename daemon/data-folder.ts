/** The agent's data folder: made, closed to others, and taken for one daemon. */
import { accessSync, chmodSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readRunning } from '../src/base/running.ts'
import { StartError } from '../src/base/start-error.ts'
import { takeLock } from '../src/storage/lock.ts'

/**
 * Makes the folder if need be and takes it until the returned function is called.
 *
 * @throws {StartError} when it cannot be used or another daemon serves it; nothing in it was changed then.
 */
export function takeDataFolder(folder: string): () => void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    chmodSync(folder, 0o700)
    const release = takeLock(join(folder, 'daemon.lock'))
    if (release) return release
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    throw new StartError(
      `The data folder ${folder} cannot be used (${reason}). Make it a folder that you may read and write, or name another in AGENT_DATA_DIR.`,
      1,
      { cause: error },
    )
  }
  const running = readRunning(folder)
  const who = running ? `The daemon with process id ${running.pid} at ${running.url}` : 'Another daemon'
  throw new StartError(
    `${who} serves the data folder ${folder} already. Stop it with \`agent daemon stop\`, or name another folder in AGENT_DATA_DIR.`,
    5,
  )
}
