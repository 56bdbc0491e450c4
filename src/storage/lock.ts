/** One daemon a folder: a lock that the operating system takes back when its holder dies, however it dies. */
import { openSqlite } from './sqlite.ts'

/** Takes the lock at a path until the returned function is called or the process ends; `undefined` when another process holds it. */
export function takeLock(path: string): (() => void) | undefined {
  const db = openSqlite(path)
  try {
    db.pragma('busy_timeout = 0')
    db.exec('BEGIN EXCLUSIVE')
    return () => db.close()
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
}
