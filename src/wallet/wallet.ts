/** The handle of an open wallet: its database, its keys and its environment. */
import type { Log } from '../foundation/log.ts'
import { isProbed, probe } from '../foundation/probe.ts'
import type { Problem } from '../foundation/problem.ts'
import { inSpan, inThisSpan, type SpanStart } from '../foundation/spans.ts'
import { DamagedFileError, NewerFileError } from '../foundation/storage/file-errors.ts'
import type { Db, Tx } from '../foundation/storage/database.ts'
import { walletTransferred } from '../foundation/storage/transferred.ts'
import { attachMemory, isChecked, Memory } from '../foundation/storage/memory.ts'
import {
  changesOf,
  countsOf,
  notesOf,
  pruneLogs,
  watchThreads,
  withNotes,
} from '../foundation/storage/tx-context.ts'
import { Writer, type WriteOptions } from '../foundation/storage/writer.ts'
import type { Environment } from './environment.ts'
import { readSeed, unreadable } from './wallet-file.ts'
import { createWalletSecrets, type WalletSecrets } from './wallet-secrets.ts'
import type { WalletContents, WalletStore } from './wallet-store.ts'

export type Wallet = Omit<WalletSecrets, 'erase'> & {
  readonly id: string
  /** The wallet's number in `agent.db`. */
  readonly number: number
  /** Only for reading. */
  readonly db: Db
  readonly env: Environment
  /**
   * The only way to write: all of it or nothing, and on disk when it resolves. Inside, use only `tx`. A write
   * with `canWait` may be lost with the process, and resolves after the next commit or a moment later.
   */
  transaction<T>(write: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Resolves when reads see the writes with `canWait` too. */
  flush(): Promise<void>
  /** Reads everything from the database from now on, because another process may write to it. */
  disown(): void
  /** Whether writes are refused because the wallet is being transferred to another agent, or deleted. */
  isSuspended: () => boolean
  /** Refuses writes from now on with the error of `refuse`. Resolves when the writes under way are on disk. */
  suspend(refuse?: () => Problem): Promise<void>
  /** Accepts writes again. */
  resume(): void
  /** Closes the file and erases the keys. */
  close(): Promise<void>
}

type Opening = { id: string; number: number; key: Uint8Array; isSuspect: boolean }

/**
 * Opens a wallet with its key. All of its contents are checked if it `isSuspect`. A damaged file is set
 * aside.
 *
 * @throws {NotOwnerError}, {Problem} `WalletUnreadable` when the contents are missing, damaged, another
 * wallet's, or written by a newer release.
 */
export async function openWallet(
  env: Environment,
  store: WalletStore,
  { id, number, key, isSuspect }: Opening,
  log: Log,
): Promise<Wallet> {
  try {
    const contents = await store.open(id, isSuspect)
    try {
      const secrets = createWalletSecrets(id, key, await readSeed(contents.db, id, store.nameOf(id), key))
      return createHandle(env, { id, number, system: store.system }, contents, secrets)
    } catch (error) {
      await contents.close()
      throw error
    }
  } catch (error) {
    if (error instanceof NewerFileError)
      throw unreadable(
        id,
        'A newer release of the agent wrote it, and it was not changed: start that release.',
        error,
      )
    if (!(error instanceof DamagedFileError)) throw error
    const problem = store.setAside(id, error)
    log.error(
      { err: error, walletId: id, reason: problem.message },
      'a wallet is damaged or another wallet’s, and was set aside',
    )
    throw problem
  }
}

function createHandle(
  env: Environment,
  { id, number, system }: Pick<Opening, 'id' | 'number'> & Pick<WalletStore, 'system'>,
  { db, ...contents }: WalletContents,
  { erase, ...secrets }: WalletSecrets,
): Wallet {
  let refuse: (() => Problem) | undefined
  const memory = new Memory()
  attachMemory(db, memory)
  const writer = new Writer(db, {
    begin(tx) {
      attachMemory(tx, memory)
      return isChecked() ? memory.check(tx) : undefined
    },
    committed: (tx) => memory.committed(notesOf(tx)),
    sync: () => contents.flush(),
    async before(tx) {
      await pruneLogs(tx, env.config.EVENT_RETENTION)
      if (isProbed()) await probe('commit:before', { walletId: id })
    },
    timed: ({ seconds, writes, isCommitted }) => {
      env.metrics.observe(
        'agent_db_transaction_duration_seconds',
        { outcome: isCommitted ? 'committed' : 'rolled_back' },
        seconds,
      )
      if (isCommitted) env.metrics.add('agent_db_writes_total', {}, writes)
    },
    after(tx) {
      env.metrics.addAll(countsOf(tx))
      const changes = changesOf(tx)
      if (changes.size > 0) env.onCommit(id, changes)
    },
    failed({ isUnknown }) {
      memory.forget()
      // Its jobs and events wait in the database if it was committed, and nothing else would wake the worker.
      if (isUnknown) env.onCommit(id, ['jobs', 'events', 'webhooks'])
    },
  })
  return {
    ...secrets,
    id,
    number,
    db,
    env,
    transaction: (write, options) =>
      inSpan(
        () => transactionSpan(system),
        async () => {
          // The writer may execute this write in a transaction that another span has begun.
          const own = inThisSpan(write)
          const result = await env.writeBarrier.write(id, async () => {
            if (refuse) throw refuse()
            return writer.write((tx) => {
              // It may have been suspended while the write waited.
              if (refuse) throw refuse()
              return withNotes(tx, own)
            }, options)
          })
          if (isProbed()) await probe('commit:after', { walletId: id })
          return result
        },
      ),
    flush: () => writer.flush(),
    disown: () => memory.end(),
    isSuspended: () => refuse !== undefined,
    async suspend(because = () => walletTransferred(id)) {
      await writer.flush()
      refuse = because
      // Transactions run one at a time, so this one ends after those under way.
      await env.writeBarrier.write(id, () => db.transaction().execute(() => Promise.resolve()))
    },
    resume: () => void (refuse = undefined),
    async close() {
      await writer.flush()
      memory.end()
      await contents.close()
      erase()
    },
  }
}

/** From the request of a write until its commit is on the disk. */
const transactionSpan = (system: string): SpanStart => ({
  name: 'transaction',
  isDetail: true,
  attributes: { 'db.system.name': system },
})

/**
 * The wallet as one request or message sees it: log lines name the request, and `noteThread` gets the id of
 * every DIDComm thread that is written to, also when the transaction fails.
 */
export function forRequest(wallet: Wallet, log: Log, noteThread: (thid: string) => void): Wallet {
  return {
    ...wallet,
    env: { ...wallet.env, log },
    transaction: (write, options) => wallet.transaction((tx) => watchThreads(tx, noteThread, write), options),
  }
}

/**
 * Runs a task (a job that is not a message) for a record: network calls and cryptography. The worker commits
 * the returned write with the deletion of the job.
 *
 * @throws {LaterError} to run again later
 */
export type Task = (wallet: Wallet, recordId: string) => Promise<(tx: Tx) => Promise<unknown>>

/** Thrown by a task that cannot finish before a time on the clock of `steadyNow`. It is not a failure. */
export class LaterError extends Error {
  override name = 'LaterError'
  readonly at: Date

  constructor(at: Date) {
    super(`not before ${at.toISOString()}`)
    this.at = at
  }
}
