/** Keeps the checksums of an open database's pages: before its log is copied into the file, which is nobody's business but ours. */
import { watchFiles } from './file-watch.ts'
import { syncLog } from './log-sync.ts'
import { readNewest } from './newest-frames.ts'
import { addPageSums, dropPageSums, type PageSumsEnd } from './page-sums-file.ts'
import type { Database } from './sqlite.ts'

export type Keeper = {
  /** Is told of each commit. Copies the log into the file when it has become long. */
  afterCommit: () => void
  /** Is told before the file is closed, which copies the log into it. */
  beforeClose: () => void
  /** Whether the file should be examined before it is used again: somebody else has written to it, its log is not sound, or it was examined long ago. */
  isDue: () => boolean
}

/** Pages that the log may have before it is copied, as with SQLite's own limit. */
const mostFrames = 1_000
/** Commits after which the log is looked at. */
const commits = 32
/** A disk can lose a bit of what is never written; what is read from it is compared once a day. */
const dayMs = 86_400_000

/** What examining a file has found of its checksums, and the file's stamp before that (`stampOf`). */
export type Found = { sums: PageSumsEnd; stamp: string }

/** Begins to keep the checksums of a database that has just been opened, and was examined. */
export function keepPages(database: Database, { sums, stamp }: Found): Keeper {
  const path = database.name
  const examinedAt = performance.now()
  let known = sums
  let limit = mostFrames
  let sinceLook = 0
  let isFaulty = false
  database.pragma('wal_autocheckpoint = 0')
  const watch = watchFiles(path, stamp)

  /** How many frames the log has, as SQLite knows it, which copies nothing with `noop`; and how many of them are in the file. */
  const checkpoint = (mode: 'noop' | 'passive') =>
    (database.pragma(`wal_checkpoint(${mode})`) as [{ log: number; checkpointed: number }])[0]

  /** Notes the checksums of what is about to be copied, unless that is not as it was written. @throws when the disk is full; then the log just grows. */
  const note = (frames: number) => {
    if (frames <= 0) return
    const log = readNewest(path, frames, known.until)
    if (log === undefined) isFaulty = true
    else if (log.pages.size > 0) {
      // What the sums are of must not be lost while they are not.
      syncLog(path)
      known = addPageSums(path, known, log)
    }
  }
  const copyLong = () => {
    try {
      const frames = checkpoint('noop').log
      if (frames < limit) return
      note(frames)
      if (isFaulty) return
      const { log, checkpointed } = watch.copying(() => checkpoint('passive'))
      // Whoever reads an older state keeps the log from beginning anew.
      limit = log === checkpointed ? mostFrames : log + mostFrames
    } catch {
      limit += mostFrames
    }
  }
  return {
    afterCommit() {
      watch.logged()
      if (++sinceLook < commits || database.inTransaction) return
      sinceLook = 0
      copyLong()
    },
    beforeClose() {
      watch.close()
      try {
        // As it is in the end anyway; SQLite does not say meanwhile how long its log is.
        if (database.inTransaction) database.exec('rollback')
        note(checkpoint('noop').log)
      } catch {
        // SQLite's own check will have to do.
        dropPageSums(path)
      }
    },
    isDue() {
      if (database.inTransaction) return false
      return isFaulty || watch.isTouched() || performance.now() - examinedAt > dayMs
    },
  }
}
