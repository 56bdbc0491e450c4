/**
 * Notices that somebody else has written to an open database's file or to its log, or has replaced them.
 *
 * They are looked at once in a while and not at every use, which would cost as much as a statement: file systems count time in ticks of some
 * milliseconds, within which nobody could tell another's write from ours anyway.
 */
import { statSync } from 'node:fs'

export type Watch = {
  /** Is told that we have written to the log. */
  logged: () => void
  /** Does what copies the log into the file. What somebody else has written to it before that stays noticed. */
  copying: <T>(copy: () => T) => T
  /** Whether somebody else has written to them, as far as a look tells that is at most `lookMs` old. */
  isTouched: () => boolean
  /** Looks no more. */
  close: () => void
}

/** How old a look may be, in milliseconds, and how long after our own writing the log is not compared. */
const lookMs = 10

/** Watches the files of the database at `path`. The file had its `stamp`, and the log has its own now, when they were as they should be. */
export function watchFiles(path: string, stamp: string): Watch {
  const logPath = `${path}-wal`
  const stamps = { file: stamp, log: stampOf(logPath) }
  let settling: NodeJS.Timeout | undefined
  let nextLook = 0
  const settled = () => {
    settling = undefined
    stamps.log = stampOf(logPath)
  }
  return {
    logged() {
      settling ??= setTimeout(settled, lookMs).unref()
    },
    copying(copy) {
      const isOurs = stampOf(path) === stamps.file
      try {
        return copy()
      } finally {
        if (isOurs) stamps.file = stampOf(path)
      }
    },
    isTouched() {
      const now = performance.now()
      if (now < nextLook) return false
      const isTouched =
        stampOf(path) !== stamps.file || (settling === undefined && stampOf(logPath) !== stamps.log)
      if (!isTouched) nextLook = now + lookMs
      return isTouched
    },
    close: () => clearTimeout(settling),
  }
}

/** When a file was written to for the last time, and how long it is. It is not opened here: closing it would take away SQLite's locks. */
export function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ''
}
