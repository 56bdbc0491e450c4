/** The contents of wallets in PostgreSQL: the rows with the id of the wallet. */
import { type Kysely, sql } from 'kysely'
import { across } from '../foundation/probe.ts'
import {
  type AgentDb,
  type Db,
  fillWalletFile,
  openExistingWalletDb,
} from '../foundation/storage/database.ts'
import { DamagedFileError } from '../foundation/storage/file-errors.ts'
import type { Pools } from '../foundation/storage/postgres/connect.ts'
import { copyRows, inPostgres, inSqlite } from '../foundation/storage/postgres/copy-rows.ts'
import {
  type Claim,
  enterAgent,
  openWallet,
  openWalletAndAgent,
} from '../foundation/storage/postgres/databases.ts'
import { toImportError } from '../foundation/storage/postgres/errors.ts'
import { copiedWalletTables, deleteWalletRows } from '../foundation/storage/postgres/wallet-rows.ts'
import { unreadable } from './wallet-file.ts'
import type { Register, WalletContents, WalletStore } from './wallet-store.ts'

export class WalletRows implements WalletStore {
  readonly system = 'postgresql'
  readonly #pools: Pools
  readonly #claimOf: (walletId: string) => Claim

  /** `claimOf` throws {NotOwnerError} for the wallets of other nodes. */
  constructor(pools: Pools, claimOf: (walletId: string) => Claim) {
    this.#pools = pools
    this.#claimOf = claimOf
  }

  /** Without a claim: no other node knows the wallet yet. */
  async create(id: string, fill: (db: Db) => Promise<unknown>): Promise<void> {
    await openWallet(this.#pools, id)
      .transaction()
      .execute(async (tx) => {
        await deleteWalletRows(tx)
        await fill(tx)
      })
  }

  open(id: string): Promise<WalletContents> {
    const db = openWallet(this.#pools, id, () => this.#claimOf(id))
    // A commit is on the disk when it returns.
    return Promise.resolve({ db, flush: () => Promise.resolve(), close: () => db.destroy() })
  }

  nameOf(id: string): string {
    return `the rows of the wallet ${id}`
  }

  setAside(id: string, cause: Error): Error {
    return unreadable(id, 'Its rows are missing, or belong to another agent.', cause)
  }

  async remove(id: string): Promise<void> {
    await openWallet(this.#pools, id)
      .transaction()
      .execute((tx) => deleteWalletRows(tx))
  }

  async copyTo(id: string, path: string): Promise<void> {
    // A later owner opens the wallet with what the agent's tables say now, such as that it is suspended.
    await openWallet(this.#pools, id, () => this.#claimOf(id))
      .transaction()
      .execute(() => Promise.resolve())
    const from = openWallet(this.#pools, id)
    await fillWalletFile(path, async (to) => {
      const count = await from
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (tx) => {
          await sql`set transaction read only`.execute(tx)
          return copyRows(inPostgres(tx), inSqlite(to), copiedWalletTables)
        })
      if (count === 0) throw new DamagedFileError(this.nameOf(id), 'are missing')
    })
  }

  /**
   * One transaction. The agent's tables are locked for its end only, since the rows of a large wallet take
   * long.
   */
  async adopt<T>(_: AgentDb, id: string, path: string, register: Register<T>): Promise<T> {
    const file = await openExistingWalletDb(path)
    try {
      return await across('import-rows', { walletId: id }, () =>
        openWalletAndAgent(this.#pools, id)
          .transaction()
          .execute(async (tx) => {
            await across('import-contents', { walletId: id }, () => replaceRows(file, tx, path))
            return register(await enterAgent(tx, this.#claimOf(id)), null)
          }),
      )
    } finally {
      await file.destroy()
    }
  }
}

async function replaceRows(file: Db, tx: Kysely<any>, path: string): Promise<void> {
  await deleteWalletRows(tx)
  try {
    await copyRows(inSqlite(file), inPostgres(tx), copiedWalletTables)
  } catch (error) {
    throw toImportError(error, path)
  }
}
