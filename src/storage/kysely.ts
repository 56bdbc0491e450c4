/** An open database as Kysely's. */
import { Kysely } from 'kysely'
import { createDialect } from './dialect.ts'
import type { Database } from './sqlite.ts'

/** Has Kysely ask an open database, and close it: also when nothing was ever asked, which Kysely by itself takes for nothing to be closed. */
export async function asKysely<Tables>(database: Database): Promise<Kysely<Tables>> {
  const db = new Kysely<Tables>({ dialect: createDialect(database) })
  await db.connection().execute(() => Promise.resolve())
  return db
}
