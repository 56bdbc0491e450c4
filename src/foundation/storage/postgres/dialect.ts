/**
 * The Kysely dialect of PostgreSQL. Every transaction begins with the same statements, such as the one that
 * names the wallet.
 *
 * A query outside of a transaction runs in one of its own. Its statements are sent together (pipeline mode),
 * so that it takes one round trip.
 */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type IsolationLevel,
  PostgresAdapter,
  PostgresIntrospector,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { Pool, PoolClient, QueryConfig, QueryResult as PgResult } from 'pg'
import { NotOwnerError } from '../not-owner-error.ts'
import { Compiler, type CompilerOptions } from './compiler.ts'
import { fencedCode, isStale, readOnlyCode, toPostgresError } from './errors.ts'
import { markStale, takeConnection } from './stale.ts'

/**
 * The server ends a transaction that is idle for so long, with its locks and its connection: a paused node
 * must not stop the others.
 */
const idleTimeoutMs = 3_000

/** How long a statement waits for a lock, and how long it may run. */
const [lockTimeoutMs, statementTimeoutMs] = [5_000, 30_000]

/**
 * The settings of one transaction. They also work behind a pooler, which gives a connection to many clients.
 * A commit is on the disk when it returns, even if `synchronous_commit` is off for the role, the database or
 * the server.
 */
const settings = [
  `set_config('idle_in_transaction_session_timeout', '${idleTimeoutMs}', true)`,
  `set_config('lock_timeout', '${lockTimeoutMs}', true)`,
  `set_config('statement_timeout', '${statementTimeoutMs}', true)`,
  `set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true)`,
].join(', ')

/** What each transaction begins with: SQL expressions, and their parameters. */
export type Opening = { name: string; expressions: string; values: unknown[] }

export type PostgresDialectOptions = CompilerOptions & {
  /** Begins a transaction that may write. @throws {NotOwnerError} */
  openWrite: () => Opening | undefined
  /** Begins the transaction of a query outside of a transaction that reads; `openWrite` if this is undefined. */
  openRead?: () => Opening | undefined
  /** The wallet, for the error of a fenced transaction. */
  walletId?: string
}

/** Creates a dialect over a pool, which it does not close. */
export function createPostgresDialect(pool: Pool, options: PostgresDialectOptions): Dialect {
  return {
    createAdapter: () => new Adapter(),
    createDriver: () => new PostgresDriver(pool, options),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new Compiler(options),
  }
}

/** `isSqlite` of `storage/dialect.ts` recognizes it. */
class Adapter extends PostgresAdapter {
  readonly isPostgres = true
}

/** A query that the server prepares once for each connection, by its name. */
export type NamedQuery = CompiledQuery & { readonly preparedName?: string }

class PostgresDriver implements Driver {
  readonly #pool: Pool
  readonly #options: PostgresDialectOptions

  constructor(pool: Pool, options: PostgresDialectOptions) {
    this.#pool = pool
    this.#options = options
  }

  init(): Promise<void> {
    return Promise.resolve()
  }

  async acquireConnection(): Promise<Connection> {
    try {
      return new Connection(this.#pool, await takeConnection(this.#pool), this.#options)
    } catch (error) {
      throw toPostgresError(error)
    }
  }

  beginTransaction(connection: Connection, { isolationLevel }: TransactionSettings): Promise<void> {
    return connection.begin(isolationLevel)
  }

  commitTransaction(connection: Connection): Promise<void> {
    return connection.commit()
  }

  rollbackTransaction(connection: Connection): Promise<void> {
    return connection.rollback()
  }

  releaseConnection(connection: Connection): Promise<void> {
    connection.release()
    return Promise.resolve()
  }

  destroy(): Promise<void> {
    return Promise.resolve()
  }
}

/** Queries that write. */
const changes: ReadonlySet<string> = new Set([
  'InsertQueryNode',
  'UpdateQueryNode',
  'DeleteQueryNode',
  'MergeQueryNode',
])

class Connection implements DatabaseConnection {
  readonly #pool: Pool
  readonly #client: PoolClient
  readonly #options: PostgresDialectOptions
  #isInTransaction = false
  /** Why the connection cannot be used any more. */
  #fault: Error | undefined
  /**
   * The server ends a connection between two statements too, for example when the transaction was idle too
   * long.
   */
  readonly #onError = (error: Error) => void (this.#fault ??= error)

  constructor(pool: Pool, client: PoolClient, options: PostgresDialectOptions) {
    this.#pool = pool
    this.#client = client
    this.#options = options
    client.on('error', this.#onError)
  }

  async begin(isolationLevel: IsolationLevel | undefined): Promise<void> {
    const opening = this.#options.openWrite()
    const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`
    await this.#send([{ text: `begin${level}` }, ...toStatements(opening)])
    this.#isInTransaction = true
  }

  async commit(): Promise<void> {
    const { command } = await this.#query({ text: 'commit' })
    this.#isInTransaction = false
    // PostgreSQL rolls a transaction back at its commit, without an error, if one of its statements has
    // failed.
    if (command !== 'COMMIT')
      throw new Error('a failed statement of the transaction was ignored: it was rolled back')
  }

  async rollback(): Promise<void> {
    this.#isInTransaction = false
    if (!this.#fault) await this.#query({ text: 'rollback' })
  }

  release(): void {
    this.#client.off('error', this.#onError)
    this.#client.release(this.#fault)
  }

  async executeQuery<Row>({ query, sql, parameters, preparedName }: NamedQuery): Promise<QueryResult<Row>> {
    const statement = { text: sql, values: [...parameters], ...(preparedName && { name: preparedName }) }
    if (this.#isInTransaction) return toResult(await this.#query(statement))
    const { openRead, openWrite } = this.#options
    const mayWrite = !openRead || changes.has(query.kind)
    const opening = mayWrite ? openWrite() : openRead()
    if (!opening) return toResult(await this.#query(statement))
    const results = await this.#send([
      { text: mayWrite ? 'begin' : 'begin read only' },
      ...toStatements(opening),
      statement,
      { text: 'commit' },
    ])
    return toResult(results.at(-2)!)
  }

  streamQuery(): never {
    throw new Error('rows are not streamed')
  }

  /** Sends statements at once, and waits for all results. @throws the error of the first that failed */
  async #send(statements: readonly QueryConfig[]): Promise<PgResult[]> {
    const results = await Promise.allSettled(statements.map((statement) => this.#query(statement)))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) {
      // The transaction has begun: leave the connection without one.
      if (!this.#fault) await this.#query({ text: 'rollback' })
      throw failed.reason
    }
    return results.map((result) => (result as PromiseFulfilledResult<PgResult>).value)
  }

  async #query(statement: QueryConfig): Promise<PgResult> {
    try {
      return await this.#client.query(statement)
    } catch (error) {
      const { walletId } = this.#options
      if ((error as { code?: string }).code === fencedCode && walletId !== undefined)
        throw new NotOwnerError(walletId)
      const known = toPostgresError(error)
      if (isStale(error)) markStale(this.#pool, this.#client)
      if (isLost(error)) this.#fault = error as Error
      throw known
    }
  }
}

/**
 * Whether the connection cannot be used any more: after an error of the system or of `pg`, or of severity
 * FATAL, if it leads to a standby, where it would stay after a fail-over, and if its statements are from
 * before a migration.
 */
function isLost(error: unknown): boolean {
  const { severity, code } = error as { severity?: string; code?: string }
  return (
    code === readOnlyCode ||
    isStale(error) ||
    severity === undefined ||
    severity === 'FATAL' ||
    severity === 'PANIC'
  )
}

function toStatements(opening: Opening | undefined): QueryConfig[] {
  if (!opening) return []
  // The settings apply to the waits of the expressions.
  const text = `select ${settings}, ${opening.expressions}`
  return [{ name: opening.name, text, values: opening.values }]
}

const writes = ['INSERT', 'UPDATE', 'DELETE']

function toResult<Row>({ command, rowCount, rows }: PgResult): QueryResult<Row> {
  return {
    ...(writes.includes(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
    rows: rows as Row[],
  }
}
