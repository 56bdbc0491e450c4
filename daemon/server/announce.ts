/** Tells the command line which daemon serves a data folder, and where: the profile, and `daemon.json` in the folder. */
import type { Config } from '../../src/base/config.ts'
import type { Log } from '../../src/base/log.ts'
import { type LocalProfile, writeProfile } from '../../src/base/profile.ts'
import { removeRunning, writeRunning, type Running } from '../../src/base/running.ts'
import { StartError } from '../../src/base/start-error.ts'
import { isDiskFull } from '../../src/storage/file-errors.ts'

/** The wait until files are written again that a full disk had no room for. */
const retryMs = 5_000

export type Announced = {
  profile: LocalProfile
  running: Running
  /** Whether the profile of an earlier start has the same secrets. */
  isKnown: boolean
  /** Writes the settings that the next start is to have as well. */
  remember: () => void
}

/**
 * Writes the files. A full disk delays them, if the profile of an earlier start serves until then.
 *
 * @returns what removes `daemon.json` again
 * @throws {StartError} when they cannot be written
 */
export function announce(
  config: Config,
  log: Log,
  { profile, running, isKnown, remember }: Announced,
): () => void {
  let retry: NodeJS.Timeout | undefined
  const write = () => {
    remember()
    writeProfile(config.AGENT_CONFIG_DIR, config.AGENT_PROFILE, profile)
    writeRunning(config.AGENT_DATA_DIR, running)
  }
  const writeLater = () => {
    try {
      write()
      log.info('the profile is written, which the disk had no room for')
    } catch (error) {
      if (!isDiskFull(error)) log.error({ err: error }, 'the profile cannot be written')
      retry = setTimeout(writeLater, retryMs).unref()
    }
  }
  try {
    write()
  } catch (error) {
    if (!isDiskFull(error)) throw error
    if (!isKnown) {
      const reason =
        'The disk is full: a daemon that starts for the first time needs room for its keys and its profile.'
      throw new StartError(
        `${reason} Make room on the disks of ${config.AGENT_DATA_DIR} and ${config.AGENT_CONFIG_DIR}.`,
        1,
        {
          cause: error,
        },
      )
    }
    log.warn(
      'the disk is full: the agent can be read, writes are answered 507, and the profile stays as it was, until there is room',
    )
    retry = setTimeout(writeLater, retryMs).unref()
  }
  return () => {
    clearTimeout(retry)
    removeRunning(config.AGENT_DATA_DIR)
  }
}
