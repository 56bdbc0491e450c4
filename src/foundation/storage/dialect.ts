/**
 * The Kysely dialect of better-sqlite3, with storage errors (`file-errors.ts`) and a cache of prepared
 * statements.
 *
 * Several processes may write to a shared database. Its transactions take the write lock first (`begin
 * immediate`): SQLite refuses to upgrade a read lock when another process has written in between. A locked
 * database is waited for in the event loop: a wait inside SQLite would block the process, which may hold the
 * lock itself.
 *
 * SQLite itself rolls a transaction back when the disk is full. Later statements of the transaction would
 * then commit individually: the dialect refuses them.
 */
import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Statement } from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { LRUCache } from 'lru-cache'
import { Problem } from '../problem.ts'
import { toStorageError } from './file-errors.ts'
import type { Database } from './sqlite.ts'

/** `isShared`: other processes may write to the database too. */
export type DialectOptions = { isShared?: boolean }

/** Creates the dialect of an open database. Kysely closes the database. */
export function createDialect(database: Database, { isShared = false }: DialectOptions = {}): Dialect {
  const driver = new Driver(database, isShared)
  return {
    createAdapter: () => new Adapter(driver),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/**
 * Runs a query with other values at once, without Kysely's queue. Returns undefined when the query has to
 * wait, because another transaction has the connection.
 */
export function runAtOnce<R>(
  db: Kysely<any>,
  query: CompiledQuery<R>,
  values: unknown[],
): QueryResult<R> | undefined {
  const { adapter } = db.getExecutor()
  return adapter instanceof Adapter ? adapter.driver.runAtOnce(query, values, db.isTransaction) : undefined
}

/** Whether a database is a SQLite file. Otherwise it is in PostgreSQL. */
export function isSqlite(db: Kysely<any>): boolean {
  // `instanceof` would not recognize the adapter of another bundle in the same process.
  return !('isPostgres' in db.getExecutor().adapter)
}

/** Kysely's adapter states that SQLite does not support DDL in transactions, which it does. */
class Adapter extends SqliteAdapter {
  readonly driver: Driver

  constructor(driver: Driver) {
    super()
    this.driver = driver
  }

  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

const begin = CompiledQuery.raw('begin')
const beginImmediate = CompiledQuery.raw('begin immediate')
const commit = CompiledQuery.raw('commit')
const rollback = CompiledQuery.raw('rollback')

/** The longest wait for a shared database that another process has locked. */
const lockTimeoutMs = 10_000

class Driver extends SqliteDriver {
  readonly #database: Database
  readonly #isShared: boolean
  readonly #prepare: ReturnType<typeof createPrepare>
  /** The current transaction, and the error by which SQLite rolled it back. */
  #transaction: { lost?: unknown } | undefined
  #connection: DatabaseConnection | undefined
  #isInUse = true

  constructor(database: Database, isShared: boolean) {
    const prepare = createPrepare(database)
    super({ database: { prepare: (text) => database.prepare(text), close: () => database.close() } })
    if (isShared) database.pragma('busy_timeout = 0')
    this.#database = database
    this.#isShared = isShared
    this.#prepare = prepare
  }

  override async init(): Promise<void> {
    await super.init()
    this.#isInUse = false
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    this.#isInUse = true
    this.#connection ??= {
      executeQuery: <R>(query: CompiledQuery) => this.#runInTurn<R>(query),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
    return this.#connection
  }

  override releaseConnection(): Promise<void> {
    this.#isInUse = false
    return super.releaseConnection()
  }

  runAtOnce<R>(
    query: CompiledQuery,
    values: unknown[],
    isInTransaction: boolean,
  ): QueryResult<R> | undefined {
    if (this.#isInUse && !isInTransaction) return undefined
    try {
      return this.#run(query, values)
    } catch (error) {
      if (this.#mayWait(error)) return undefined
      throw error
    }
  }

  override async beginTransaction(): Promise<void> {
    await this.#runInTurn(this.#isShared ? beginImmediate : begin)
    this.#transaction = {}
  }

  override async commitTransaction(): Promise<void> {
    this.#run(commit)
    this.#transaction = undefined
  }

  override async rollbackTransaction(): Promise<void> {
    this.#transaction = undefined
    if (this.#database.inTransaction) this.#run(rollback)
  }

  /**
   * Runs a statement, and waits while another connection has locked a shared database.
   *
   * @throws {Problem} 503 after ten seconds
   */
  async #runInTurn<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    for (let end: number | undefined; ; await setTimeout(1 + Math.random() * 4)) {
      try {
        return this.#run<R>(query)
      } catch (error) {
        if (!this.#mayWait(error)) throw error
        end ??= Date.now() + lockTimeoutMs
        if (Date.now() > end) throw locked(this.#database.name, error)
      }
    }
  }

  #mayWait(error: unknown): boolean {
    const { code = '' } = error as { code?: string }
    return this.#isShared && !this.#transaction && code.startsWith('SQLITE_BUSY')
  }

  #run<R>({ sql, parameters }: CompiledQuery, values: readonly unknown[] = parameters): QueryResult<R> {
    if (this.#transaction?.lost !== undefined) throw this.#transaction.lost
    try {
      return this.#execute<R>(sql, values)
    } catch (error) {
      const known = toStorageError(error, this.#database.name)
      if (this.#transaction && !this.#database.inTransaction) this.#transaction.lost = known
      throw known
    }
  }

  #execute<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const statement = this.#prepare(sql)
    if (statement.reader) return { rows: readRows<R>(statement, parameters) }
    const { changes, lastInsertRowid } = statement.run(parameters)
    return { numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid), rows: [] }
  }
}

/** The columns of statements whose rows are arrays. */
const columnsOf = new WeakMap<Statement, readonly string[]>()

/** The rows of a statement as objects. better-sqlite3 returns arrays in half of the time of objects. */
function readRows<R>(statement: Statement, parameters: readonly unknown[]): R[] {
  let columns = columnsOf.get(statement)
  if (!columns) {
    columns = statement
      .raw()
      .columns()
      .map(({ name }) => name)
    columnsOf.set(statement, columns)
  }
  const rows = statement.all(parameters) as unknown[][]
  return rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) row[columns[index]!] = values[index]
    return row as R
  })
}

function locked(path: string, cause: unknown): Problem {
  const detail = `Another process has locked ${basename(path)} for ${lockTimeoutMs / 1_000} seconds. Nothing was changed. Try again in a moment.`
  return new Problem('error:ServiceUnavailable', detail, { retryAfter: 1, cause })
}

/**
 * Connects Kysely to an open database at once. Kysely would otherwise not close a database that was never
 * queried.
 */
export async function asKysely<Tables>(
  database: Database,
  options?: DialectOptions,
): Promise<Kysely<Tables>> {
  const db = new Kysely<Tables>({ dialect: createDialect(database, options) })
  await db.connection().execute(() => Promise.resolve())
  return db
}

/** Cached statements of one database, about 5 kB each. All flows together have fewer. */
const maxStatements = 64

/** Statements that change neither tables nor settings. */
const isCacheable = /^(select|with|insert|update|delete|begin|commit|rollback|savepoint|release)\b/i

/**
 * Creates a function that prepares statements and caches them by text. A statement that is being iterated is
 * not reused. Any statement that may change a table clears the cache: SQLite prepares statements again after
 * such a change, but better-sqlite3 keeps their old columns.
 */
export function createPrepare(database: Pick<Database, 'prepare'>): (text: string) => Statement {
  const kept = new LRUCache<string, Statement>({ max: maxStatements })
  return (text) => {
    const known = kept.get(text)
    if (known && !known.busy) return known
    if (!isCacheable.test(text)) {
      kept.clear()
      return database.prepare(text)
    }
    const statement = database.prepare(text)
    kept.set(text, statement)
    return statement
  }
}
