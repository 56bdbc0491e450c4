/** What SQLite is asked in this process, seen at the statements themselves: who is answered alike must also have been looked up alike. */
import { openSqlite, type Database } from '../../src/storage/sqlite.ts'

/** A statement as better-sqlite3 has it. */
export type Asked = { source: string; database: Database }

type Call = (this: Asked, ...args: unknown[]) => unknown
const methods = ['all', 'get', 'run', 'iterate'] as const

/** When keys were used last is written by a timer, whoever asks for what meanwhile. */
const byTimer = /^begin\n(?:update "api_key" set "last_used_at".*\n)+commit\n/gm

/** The statements that run during `work`, in order, with nothing of what they are given. */
export async function statementsOf<T>(work: () => Promise<T>): Promise<{ result: T; statements: string[] }> {
  let seen = ''
  const result = await watchStatements(({ source }) => (seen += `${source}\n`), work)
  return { result, statements: seen.replaceAll(byTimer, '').split('\n').slice(0, -1) }
}

/** Has `see` told of every statement that runs during `work`, before it does. */
export async function watchStatements<T>(see: (asked: Asked) => void, work: () => Promise<T>): Promise<T> {
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
