/**
 * Statements of an open database, prepared once and kept by their text: preparing one takes longer than most of them run.
 *
 * SQLite itself prepares a statement anew when a table has changed under it; what better-sqlite3 has noted about it stays as it was, so a
 * change of tables has all of them forgotten.
 */
import type { Statement } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type { Database } from './sqlite.ts'

/** Texts that are kept of one database: more than the flows have. Each takes some 5 kB. */
const keptTexts = 64

/** What changes no table, nor how the database works. */
const isKept = /^(select|with|insert|update|delete|begin|commit|rollback|savepoint|release)\b/i

/** Returns what prepares a text for a database. A statement that is being read from row by row is not given out a second time. */
export function createPrepare(database: Pick<Database, 'prepare'>): (text: string) => Statement {
  const kept = new LRUCache<string, Statement>({ max: keptTexts })
  return (text) => {
    const known = kept.get(text)
    if (known && !known.busy) return known
    if (!isKept.test(text)) {
      kept.clear()
      return database.prepare(text)
    }
    const statement = database.prepare(text)
    kept.set(text, statement)
    return statement
  }
}
