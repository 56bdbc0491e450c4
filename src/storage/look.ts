/** Looks into database files that somebody else may have open, and changes nothing in them. */
import { statSync } from 'node:fs'
import { Kysely } from 'kysely'
import type { AgentTables } from './agent-tables.ts'
import type { AgentDb } from './database.ts'
import { createDialect } from './dialect.ts'
import { findFault, openSqlite, type Database } from './sqlite.ts'

/** Has SQLite look a file through: nothing when it is sound, otherwise what is wrong with it, in SQLite's words. Takes as long as reading it does. */
export function findDamage(path: string): string | undefined {
  let database: Database | undefined
  try {
    if (statSync(path).size === 0) return 'it is empty'
    database = openSqlite(path, { readonly: true })
    return findFault(database)
  } catch (error) {
    return (error as Error).message
  } finally {
    database?.close()
  }
}

/** Opens the agent's database file, which must be there, for reading. */
export function openAgentDbToRead(path: string): AgentDb {
  return new Kysely<AgentTables>({ dialect: createDialect(openSqlite(path, { readonly: true })) })
}
