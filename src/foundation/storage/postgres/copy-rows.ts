/**
 * Copies rows between PostgreSQL and SQLite files. The tables of both have the same columns, except that
 * those of wallets have `wallet_id` in PostgreSQL, which is the wallet of the transaction there.
 */
import { type ExpressionBuilder, type Kysely, sql } from 'kysely'

/**
 * A table of both stores: its columns that identify a row, and its name in PostgreSQL if that is another one.
 * `isShared`: it belongs to no wallet, so that a column `wallet_id` is one of both stores.
 */
export type CopiedTable = {
  readonly name: string
  readonly key: readonly [string, ...string[]]
  readonly postgresName?: string
  readonly isShared?: boolean
}

/** Rows that are read and written at once. SQLite takes 32,766 values in a statement, PostgreSQL 65,535. */
const batchSize = 500

/** The rows of a database, by the names of its tables. */
export type Side = { db: Kysely<any>; nameOf: (table: CopiedTable) => string }

export const inSqlite = (db: Kysely<any>): Side => ({ db, nameOf: ({ name }) => name })

/** Use a dialect without `tables`: the names are those of PostgreSQL. */
export const inPostgres = (db: Kysely<any>): Side => ({
  db,
  nameOf: ({ name, postgresName }) => postgresName ?? name,
})

/**
 * Copies all rows of tables, which are empty at `to`, in the order of their keys. `from` is a transaction
 * that sees one state; `to` is a transaction too.
 *
 * @returns the number of rows
 */
export async function copyRows(from: Side, to: Side, tables: readonly CopiedTable[]): Promise<number> {
  let count = 0
  for (const table of tables) {
    for await (const rows of readBatches(from, table)) {
      await to.db.insertInto(to.nameOf(table)).values(rows).execute()
      count += rows.length
    }
  }
  return count
}

type Row = Record<string, unknown>

async function* readBatches({ db, nameOf }: Side, table: CopiedTable): AsyncGenerator<Row[]> {
  const { key } = table
  const name = nameOf(table)
  // SQLite does not list the `rowid` of a table with another key among its columns.
  const all = db
    .selectFrom(name)
    .selectAll()
    .$if(table.name === 'inbox', (query) => query.select('rowid'))
  for (let last: Row | undefined; ;) {
    const after = last
    const query = after ? all.where((eb: ExpressionBuilder<any, any>) => isBehind(eb, key, after)) : all
    const ordered = key.reduce((ordering, column) => ordering.orderBy(column), query)
    const rows: Row[] = await ordered.limit(batchSize).execute()
    if (rows.length > 0) yield table.isShared ? rows : rows.map(withoutWallet)
    if (rows.length < batchSize) return
    last = rows.at(-1)
  }
}

function withoutWallet(row: Row): Row {
  const { ...columns } = row
  delete columns['wallet_id']
  return columns
}

function isBehind(eb: ExpressionBuilder<any, any>, key: CopiedTable['key'], row: Row) {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  const values = sql.join(key.map((column) => sql.val(row[column])))
  return eb(sql`(${columns})`, '>', sql`(${values})`)
}
