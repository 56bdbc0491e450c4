/** Keeps the checksums of an open database's pages: before its log is copied into the file, which is nobody's business but ours. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { syncLog } from './log-sync.ts'
import { addPageSums, dropPageSums, type PageSumsEnd } from './page-sums-file.ts'
import type { Database } from './sqlite.ts'
import { readLog } from './write-ahead-log.ts'

export type Keeper = {
  /** Is told of each commit. Copies the log into the file when it has become long. */
  afterCommit: () => void
  /** Is told before the file is closed, which copies the log into it. */
  beforeClose: () => void
  /** Whether the file should be examined before it is used again: somebody else has written to it, or it was examined long ago. */
  isDue: () => boolean
}

/** Pages that the log may have before it is copied, as with SQLite's own limit. */
const mostFrames = 1_000
/** Commits after which the log is looked at. */
const commits = 32
/** A disk can lose a bit of what is never written; what is read from it is compared once a day. */
const dayMs = 86_400_000

/** Begins to keep the checksums of a database that has just been opened, and was examined. */
export function keepPages(database: Database, found: PageSumsEnd): Keeper {
  const path = database.name
  const examinedAt = performance.now()
  let known = found
  let limit = mostFrames
  let sinceLook = 0
  database.pragma('wal_autocheckpoint = 0')
  const stamps = { file: stampOf(path), log: stampOf(`${path}-wal`) }

  /** @throws when the disk is full; then the log just grows. */
  const note = () => {
    const log = readLog(path)
    if (!log || (log.salt === known.until.salt && log.frames <= known.until.frames)) return
    if (log.frames === 0) return
    // What the sums are of must not be lost while they are not.
    syncLog(path)
    known = addPageSums(path, known, log)
  }
  const copy = () => {
    try {
      note()
      const [{ log, checkpointed }] = database.pragma('wal_checkpoint(passive)') as [{ log: number; checkpointed: number }]
      stamps.file = stampOf(path)
      // Whoever reads an older state keeps the log from beginning anew.
      limit = log === checkpointed ? mostFrames : log + mostFrames
    } catch {
      limit += mostFrames
    }
  }
  return {
    afterCommit() {
      if (++sinceLook >= commits) {
        sinceLook = 0
        if (hasFrame(path, limit, known.pageBytes)) copy()
      }
      stamps.log = stampOf(`${path}-wal`)
    },
    beforeClose() {
      try {
        note()
      } catch {
        // SQLite's own check will have to do.
        dropPageSums(path)
      }
    },
    isDue() {
      if (database.inTransaction) return false
      const isTouched = stampOf(path) !== stamps.file || stampOf(`${path}-wal`) !== stamps.log
      return isTouched || performance.now() - examinedAt > dayMs
    },
  }
}

/** When a file was written to for the last time, and how long it is. It is not opened here: closing it would take away SQLite's locks. */
export function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ''
}

/** Whether the log, as it is since it began anew, has a certain frame. */
function hasFrame(path: string, frame: number, pageBytes: number): boolean {
  const salts = Buffer.alloc(16)
  let log: number | undefined
  try {
    log = openSync(`${path}-wal`, 'r')
    const isThere = readSync(log, salts, 0, 8, 16) === 8 && readSync(log, salts, 8, 8, 32 + (frame - 1) * (24 + pageBytes) + 8) === 8
    return isThere && salts.subarray(0, 8).equals(salts.subarray(8))
  } catch {
    return false
  } finally {
    if (log !== undefined) closeSync(log)
  }
}
