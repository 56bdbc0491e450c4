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
import { localSettings, sessionOf, type Session } from './session.ts'
import { markStale, takeConnection } from './stale.ts'

/** What each transaction begins with: SQL expressions, and their parameters. */
export type Opening = { name: string; expressions: string; values: unknown[] }

export type PostgresDialectOptions = CompilerOptions & {
  /** Begins a transaction that may write. @throws {NotOwnerError} */
  openWrite: () => Opening | undefined
  /**
   * Begins the transaction of a query outside of a transaction that reads; `openWrite` if this is undefined.
   */
  openRead?: () => Opening | undefined
  /** The wallet whose rows these are, for queries outside of a transaction and the error of a fenced one. */
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
    let client
    try {
      client = await takeConnection(this.#pool)
      const session = this.#options.walletId === undefined ? shared : await sessionOf(client)
      return new Connection(this.#pool, client, session, this.#options)
    } catch (error) {
      client?.release(true)
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

/** The session of connections whose transactions have settings of their own. */
const shared: Session = { isOwn: false }

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
  readonly #session: Session
  readonly #options: PostgresDialectOptions
  #isInTransaction = false
  /** Why the connection cannot be used any more. */
  #fault: Error | undefined
  /**
   * The server ends a connection between two statements too, for example when the transaction was idle too
   * long.
   */
  readonly #onError = (error: Error) => void (this.#fault ??= error)

  constructor(pool: Pool, client: PoolClient, session: Session, options: PostgresDialectOptions) {
    this.#pool = pool
    this.#client = client
    this.#session = session
    this.#options = options
    client.on('error', this.#onError)
  }

  async begin(isolationLevel: IsolationLevel | undefined): Promise<void> {
    const opening = this.#options.openWrite()
    const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`
    await this.#send([{ text: `begin${level}` }, ...this.#toStatements(opening)])
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
    // Only the transaction shows whether other queries, such as those written in SQL, write nothing.
    if (openRead && this.#session.isOwn && query.kind === 'SelectQueryNode')
      return toResult(await this.#read(statement))
    const mayWrite = !openRead || changes.has(query.kind)
    const opening = mayWrite ? openWrite() : openRead()
    if (!opening) return toResult(await this.#query(statement))
    const results = await this.#send([
      { text: mayWrite ? 'begin' : 'begin read only' },
      ...this.#toStatements(opening),
      statement,
      { text: 'commit' },
    ])
    return toResult(results.at(-2)!)
  }

  /**
   * Runs a statement that only reads. Rows of another wallet are not returned if the change of the wallet
   * fails.
   */
  async #read(statement: QueryConfig): Promise<PgResult> {
    const { walletId } = this.#options
    if (this.#session.walletId === walletId) return this.#query(statement)
    this.#session.walletId = undefined
    const enter = {
      name: 'enter-wallet',
      text: `select set_config('app.wallet', $1, false)`,
      values: [walletId],
    }
    const [, result] = await this.#send([enter, statement])
    this.#session.walletId = walletId
    return result!
  }

  #toStatements(opening: Opening | undefined): QueryConfig[] {
    if (!opening) return []
    const { name, expressions, values } = opening
    // The settings apply to the waits of the expressions.
    return [{ name, text: `select ${this.#session.isOwn ? '' : `${localSettings}, `}${expressions}`, values }]
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

const writes = ['INSERT', 'UPDATE', 'DELETE']

function toResult<Row>({ command, rowCount, rows }: PgResult): QueryResult<Row> {
  return {
    ...(writes.includes(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
    rows: rows as Row[],
  }
}
