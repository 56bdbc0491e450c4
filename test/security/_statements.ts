/** What SQLite is asked in this process, seen at the statements themselves: who is answered alike must also have been looked up alike. */
import { openSqlite } from '../../src/storage/sqlite.ts'

type Call = (this: { source: string }, ...args: unknown[]) => unknown
const methods = ['all', 'get', 'run', 'iterate'] as const

/** The statements that run during `work`, in order, with nothing of what they are given. */
export async function statementsOf<T>(work: () => Promise<T>): Promise<{ result: T; statements: string[] }> {
  const database = openSqlite(':memory:')
  const prototype = Object.getPrototypeOf(database.prepare('select 1')) as Record<(typeof methods)[number], Call>
  database.close()
  const statements: string[] = []
  const own = methods.map((method) => [method, prototype[method]] as const)
  for (const [method, call] of own) {
    prototype[method] = function (...args) {
      statements.push(this.source)
      return call.apply(this, args)
    }
  }
  try {
    return { result: await work(), statements }
  } finally {
    for (const [method, call] of own) prototype[method] = call
  }
}
