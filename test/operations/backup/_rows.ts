/** The rows of all databases of a backup, for comparisons. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'

type Rows = Record<string, unknown[]>

/** The rows by database and table. `without` names tables that are left out, as `audit.db begun`. */
export function rowsOf(folder: string, without: readonly string[] = []): Rows {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.db'),
  )
  const found: Rows = {}
  for (const file of files.toSorted()) {
    const database = openSqlite(join(folder, file), { readonly: true })
    try {
      const tables = database
        .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
        .pluck()
        .all() as string[]
      for (const table of tables.filter((name) => !name.startsWith('kysely')).toSorted()) {
        const rows = database
          .prepare(`select * from "${table}"`)
          .all()
          .map((row) => JSON.stringify(row))
        if (!without.includes(`${file} ${table}`)) found[`${file} ${table}`] = rows.toSorted()
      }
    } finally {
      database.close()
    }
  }
  return found
}
