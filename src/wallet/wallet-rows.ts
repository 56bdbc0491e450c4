/** The contents of wallets in PostgreSQL: the rows with the id of the wallet. */
import type { Db } from '../storage/database.ts'
import type { Pools } from '../storage/postgres/connect.ts'
import { type Claim, openWallet } from '../storage/postgres/databases.ts'
import { deleteWalletRows } from '../storage/postgres/wallet-rows.ts'
import { unreadable } from './wallet-file.ts'
import type { WalletContents, WalletStore } from './wallet-store.ts'

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
}
