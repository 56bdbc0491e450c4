/**
 * Settings of a connection, which outlive its transactions.
 *
 * Only of a connection that one server process serves. Behind a pooler, another client may get that process
 * with the next transaction, and so each transaction has its own settings. A pooler makes up the process id
 * that the server sends at the start of a connection (`BackendKeyData`, PostgreSQL documentation, "Message
 * Flow", "Start-up").
 */
import type { PoolClient } from 'pg'

/**
 * The server ends a transaction that is idle for so long, with its locks and its connection: a paused node
 * must not stop the others.
 */
const idleTimeoutMs = 3_000

/** How long a statement waits for a lock, and how long it may run. */
const [lockTimeoutMs, statementTimeoutMs] = [5_000, 30_000]

/**
 * A commit is on the disk when it returns, even if `synchronous_commit` is off for the role, the database or
 * the server.
 */
const settingsOf = (isLocal: boolean) =>
  [
    `set_config('idle_in_transaction_session_timeout', '${idleTimeoutMs}', ${isLocal})`,
    `set_config('lock_timeout', '${lockTimeoutMs}', ${isLocal})`,
    `set_config('statement_timeout', '${statementTimeoutMs}', ${isLocal})`,
    `set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), ${isLocal})`,
  ].join(', ')

/** The settings of one transaction. */
export const localSettings = settingsOf(true)

/**
 * `isOwn`: the connection has a server process of its own, which keeps the settings. `walletId` is the wallet
 * whose rows a query outside of a transaction reads.
 */
export type Session = { isOwn: boolean; walletId?: string | undefined }

const sessions = new WeakMap<PoolClient, Session>()

/** The session of a connection, which is set up with its first use. */
export async function sessionOf(client: PoolClient): Promise<Session> {
  return sessions.get(client) ?? (await setUp(client))
}

async function setUp(client: PoolClient): Promise<Session> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const isOwn = rows[0]!.pid === (client as PoolClient & { processID?: number }).processID
  if (isOwn) await client.query(`select ${settingsOf(false)}`)
  const session = { isOwn }
  sessions.set(client, session)
  return session
}
