/**
 * Writes the files by which the command line finds the daemon: the profile, and `daemon.json` in the data
 * folder.
 */
import type { Config } from '../../src/foundation/config/config.ts'
import type { Log } from '../../src/foundation/log.ts'
import { type LocalProfile, writeProfile } from '../../src/foundation/config/profile.ts'
import { removeRunning, writeRunning, type Running } from '../../src/foundation/running.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { isDiskFull } from '../../src/foundation/storage/file-errors.ts'

/** The time between attempts to write to a full disk. */
const retryMs = 5_000

export type Announced = {
  profile: LocalProfile
  running: Running
  /** The profile of an earlier start has the same secrets. */
  isKnown: boolean
  /** Writes the settings that the next start reads. */
  remember: () => void
}

/**
 * Writes the files. On a full disk, it retries later if the profile of an earlier start is still valid.
 *
 * @returns a function that removes `daemon.json`
 * @throws {StartError} when the files cannot be written
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
      log.info('the profile is written: the disk has room again')
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
      const reason = 'The disk is full: the first start of a daemon needs room for its keys and its profile.'
      throw new StartError(
        `${reason} Make room on the disks of ${config.AGENT_DATA_DIR} and ${config.AGENT_CONFIG_DIR}.`,
        1,
        {
          cause: error,
        },
      )
    }
    log.warn(
      'the disk is full: until there is room, the agent answers writes with 507, and the profile is not updated',
    )
    retry = setTimeout(writeLater, retryMs).unref()
  }
  return () => {
    clearTimeout(retry)
    removeRunning(config.AGENT_DATA_DIR)
  }
}
