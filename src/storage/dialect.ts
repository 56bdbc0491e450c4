/**
 * SQLite as Kysely sees it, with the faults of the machine told apart from those of the program: a full disk, a damaged file.
 *
 * SQLite takes a transaction back by itself when the disk is full. What the caller still says in it would be written at once, each by
 * itself: here it is refused.
 */
import {
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
} from 'kysely'
import { translate } from './fault.ts'
import type { Keeper } from './page-keeper.ts'
import { createPrepare } from './statements.ts'
import type { Database } from './sqlite.ts'

/** Makes the dialect for an open database; `keeper` is told when something was committed, and before it is closed. */
export function createDialect(database: Database, keeper?: Pick<Keeper, 'afterCommit' | 'beforeClose'>): Dialect {
  return {
    createAdapter: () => new Adapter(),
    createDriver: () => new Driver(database, keeper),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** Kysely believes that tables are not made in transactions; SQLite does that. */
class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class Driver extends SqliteDriver {
  readonly #database: Database
  readonly #keeper: Pick<Keeper, 'afterCommit'> | undefined
  /** The transaction that somebody is in, and why it is no more. */
  #transaction: { lost?: unknown } | undefined

  constructor(database: Database, keeper: Pick<Keeper, 'afterCommit' | 'beforeClose'> | undefined) {
    const close = () => {
      keeper?.beforeClose()
      database.close()
    }
    super({ database: { prepare: createPrepare(database), close } })
    this.#database = database
    this.#keeper = keeper
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    return {
      executeQuery: async <R>(query: CompiledQuery) => {
        if (this.#transaction?.lost !== undefined) throw this.#transaction.lost
        try {
          const result = await connection.executeQuery<R>(query)
          if (!this.#transaction && query.query.kind !== 'SelectQueryNode') this.#keeper?.afterCommit()
          return result
        } catch (error) {
          const known = translate(error, this.#database.name)
          if (this.#transaction && !this.#database.inTransaction) this.#transaction.lost = known
          throw known
        }
      },
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await super.beginTransaction(connection)
    this.#transaction = {}
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection)
    this.#transaction = undefined
    this.#keeper?.afterCommit()
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    this.#transaction = undefined
    if (this.#database.inTransaction) await super.rollbackTransaction(connection)
  }
}
