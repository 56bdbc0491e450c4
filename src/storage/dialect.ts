/**
 * SQLite as Kysely sees it, with the faults of the machine told apart from those of the program: a full disk, a damaged file.
 *
 * SQLite takes a transaction back by itself when the disk is full. What the caller still says in it would be written at once, each by
 * itself: here it is refused.
 */
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
import { toStorageError } from './file-errors.ts'
import type { Database } from './sqlite.ts'

/** Creates the dialect of an open database. Kysely closes the database. */
export function createDialect(database: Database): Dialect {
  const driver = new Driver(database)
  return {
    createAdapter: () => new Adapter(driver),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/**
 * Runs a query with other values than its own at once, past Kysely's queue, where nobody else is at the connection: inside of the transaction that has
 * it, or outside of all. Returns nothing when the query has to wait for its turn.
 *
 * @throws as the query does
 */
export function runAtOnce<R>(
  db: Kysely<any>,
  query: CompiledQuery<R>,
  values: unknown[],
): QueryResult<R> | undefined {
  const { adapter } = db.getExecutor()
  return adapter instanceof Adapter ? adapter.driver.runAtOnce(query, values, db.isTransaction) : undefined
}

/** Kysely believes that tables are not made in transactions; SQLite does that. */
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
const commit = CompiledQuery.raw('commit')
const rollback = CompiledQuery.raw('rollback')

class Driver extends SqliteDriver {
  readonly #database: Database
  readonly #prepare: ReturnType<typeof createPrepare>
  /** The transaction that somebody is in, and why it is no more. */
  #transaction: { lost?: unknown } | undefined
  #connection: DatabaseConnection | undefined
  #isInUse = true

  constructor(database: Database) {
    const prepare = createPrepare(database)
    super({ database: { prepare, close: () => database.close() } })
    this.#database = database
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
      executeQuery: async <R>(query: CompiledQuery) => this.#run<R>(query),
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
    return isInTransaction || !this.#isInUse ? this.#run(query, values) : undefined
  }

  override async beginTransaction(): Promise<void> {
    this.#transaction = {}
    try {
      this.#run(begin)
    } catch (error) {
      this.#transaction = undefined
      throw error
    }
  }

  override async commitTransaction(): Promise<void> {
    this.#run(commit)
    this.#transaction = undefined
  }

  override async rollbackTransaction(): Promise<void> {
    this.#transaction = undefined
    if (this.#database.inTransaction) this.#run(rollback)
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
    if (statement.reader) return { rows: statement.all(parameters) as R[] }
    const { changes, lastInsertRowid } = statement.run(parameters)
    return { numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid), rows: [] }
  }
}

/** Has Kysely ask an open database, and close it: also when nothing was ever asked, which Kysely by itself takes for nothing to be closed. */
export async function asKysely<Tables>(database: Database): Promise<Kysely<Tables>> {
  const db = new Kysely<Tables>({ dialect: createDialect(database) })
  await db.connection().execute(() => Promise.resolve())
  return db
}

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
