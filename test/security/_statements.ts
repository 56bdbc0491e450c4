/** Records the SQL statements of this process: equal answers must also run equal statements. */
import { openSqlite, type Database } from '../../src/foundation/storage/sqlite.ts'

/** A statement of better-sqlite3. */
export type Statement = { source: string; database: Database }

type Call = (this: Statement, ...args: unknown[]) => unknown
const methods = ['all', 'get', 'run', 'iterate'] as const

/** A timer writes the last use of keys, independent of requests. */
const byTimer = /^begin\n(?:update "api_key" set "last_used_at".*\n)+commit\n/gm

/** The statements that run during `work`, in order, without parameters. */
export async function statementsOf<T>(work: () => Promise<T>): Promise<{ result: T; statements: string[] }> {
  let seen = ''
  const result = await watchStatements(({ source }) => (seen += `${source}\n`), work)
  return { result, statements: seen.replaceAll(byTimer, '').split('\n').slice(0, -1) }
}

/** Calls `see` before every statement during `work`. */
export async function watchStatements<T>(
  see: (statement: Statement) => void,
  work: () => Promise<T>,
): Promise<T> {
  const database = openSqlite(':memory:')
  const prototype = Object.getPrototypeOf(database.prepare('select 1')) as Record<
    (typeof methods)[number],
    Call
  >
  database.close()
  const own = methods.map((method) => [method, prototype[method]] as const)
  for (const [method, call] of own) {
    prototype[method] = function (...args) {
      see(this)
      return call.apply(this, args)
    }
  }
  try {
    return await work()
  } finally {
    for (const [method, call] of own) prototype[method] = call
  }
}
