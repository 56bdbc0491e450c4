/** Whether a wallet's file, which somebody else has made, has the tables of a wallet and nothing else: no trigger, no view, no other index. */
import { sql } from 'kysely'
import { DamagedFileError } from './file-errors.ts'
import { openWalletDb, type Db } from './database.ts'

/** Looks at a file of the present schema. @throws {DamagedFileError} */
export async function assertWalletTables(db: Db, path: string): Promise<void> {
  const known = await openWalletDb(':memory:')
  try {
    const [found, expected] = [await objectsOf(db), await objectsOf(known)]
    if (found !== expected) throw new DamagedFileError(path, 'has other tables than the file of a wallet')
  } finally {
    await known.destroy()
  }
}

/** Of all that is in a schema, how it was made; without what SQLite and Kysely keep for themselves. */
async function objectsOf(db: Db): Promise<string> {
  const { rows } = await sql`
    select type, name, tbl_name, sql from sqlite_master
    where substr(name, 1, 7) <> 'sqlite_' and not (type = 'table' and name in ('kysely_migration', 'kysely_migration_lock'))
    order by type, name`.execute(db)
  return JSON.stringify(rows)
}
