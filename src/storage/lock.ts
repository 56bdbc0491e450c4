/** One daemon a folder: a lock that the operating system takes back when its holder dies, however it dies. */
import { translate } from './fault.ts'
import { openLockFile, type Database } from './sqlite.ts'

/**
 * Takes the lock at a path until the returned function is called or the process ends; `undefined` when another process holds it.
 *
 * @throws {DamagedFileError} when the file holds something else
 */
export function takeLock(path: string): (() => void) | undefined {
  let database: Database | undefined
  try {
    const db = (database = openLockFile(path))
    db.exec('BEGIN EXCLUSIVE')
    return () => db.close()
  } catch (error) {
    database?.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return undefined
    throw translate(error, path)
  }
}
