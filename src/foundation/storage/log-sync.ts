/**
 * Flushes the write-ahead log of an open database outside of the event loop.
 *
 * With `synchronous=NORMAL`, SQLite flushes the log only before a checkpoint
 * (https://www.sqlite.org/pragma.html#pragma_synchronous). With `FULL`, it also does so after each commit,
 * but blocks the event loop until the disk has answered. This module does the same in libuv's thread pool.
 */
import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Kysely } from 'kysely'
import { reasonOf } from '../reason.ts'
import { DamagedFileError } from './file-errors.ts'

const syncData = promisify(fdatasync)

export type LogSync = {
  /** Resolves when all earlier commits are on the disk. @throws {DamagedFileError} when the disk fails */
  flush(): Promise<void>
  /** Closes the descriptor of the log. Call it before the database is closed. */
  close(): Promise<void>
}

/** Creates the flush of one open database, which keeps one descriptor of the log from the first flush on. */
export function createLogSync(path: string): LogSync {
  let file: number | undefined
  let last: Promise<void> = Promise.resolve()

  async function sync(): Promise<void> {
    try {
      // The log exists since the first commit, and is the same file until the database is closed. SQLite
      // holds no locks on it.
      file ??= openSync(`${path}-wal`, 'r+')
      await syncData(file)
    } catch (cause) {
      throw new DamagedFileError(path, `may have lost its last commits: ${reasonOf(cause)}`, { cause })
    }
  }
  return {
    flush() {
      const synced = sync()
      last = synced.catch(() => undefined)
      return synced
    },
    async close() {
      await last
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** A database whose commits are on the disk after `flush`, and after `close`. */
export type FlushedDb<Tables> = {
  readonly db: Kysely<Tables>
  /** Resolves when all earlier commits are on the disk. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** The database of an open file with `synchronous=NORMAL`. */
export function withLogSync<Tables>(path: string, db: Kysely<Tables>): FlushedDb<Tables> {
  const log = createLogSync(path)
  const close = async () => {
    await log.close()
    await db.destroy()
  }
  return { db, flush: () => log.flush(), close }
}
