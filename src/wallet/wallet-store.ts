/** Where the contents of wallets are kept. */
import type { AgentDb, AgentTx, Db } from '../foundation/storage/database.ts'
import type { FlushedDb } from '../foundation/storage/log-sync.ts'
import type { WalletTables } from '../foundation/storage/wallet-tables.ts'

export type WalletContents = FlushedDb<WalletTables>

/** One file for each wallet (`wallet-folder.ts`), or rows in PostgreSQL (`wallet-rows.ts`). */
export type WalletStore = {
  /** The name of the database system in traces (OpenTelemetry, `db.system.name`). */
  readonly system: 'sqlite' | 'postgresql'
  /**
   * Creates the contents of a new wallet with the rows that `fill` writes, and replaces what a crash may have
   * left.
   */
  create(id: string, fill: (db: Db) => Promise<unknown>): Promise<void>
  /**
   * Opens the contents of a wallet. With `isSuspect`, all of it is checked first.
   *
   * @throws {DamagedFileError}, {NewerFileError}, {Problem} `WalletUnreadable` when they are missing,
   * {NotOwnerError}
   */
  open(id: string, isSuspect: boolean): Promise<WalletContents>
  /** The name of the contents in errors. */
  nameOf(id: string): string
  /** Keeps damaged contents for the operator. @returns the problem of the wallet */
  setAside(id: string, cause: Error): Error
  /** Removes the contents, if they exist. */
  remove(id: string): Promise<void>
  /**
   * Copies the contents, as they are at one instant, to a new SQLite file without a log. `whileClosed` runs a
   * function while the wallet is closed; it is absent while the wallet is open.
   *
   * @throws {DamagedFileError}, {NotOwnerError}, {Problem} `InsufficientStorage`
   */
  copyTo(id: string, path: string, whileClosed?: WhileClosed): Promise<void>
  /**
   * Makes the checked SQLite file at `path`, in the transit folder, the contents of a wallet that is closed.
   * In the same step, `register` writes the rows that the agent has of the wallet, with this value of
   * `arrived`: after a crash there is all of it, or nothing has changed.
   *
   * @throws as `register`, {DamagedFileError}, {NotOwnerError}, {Problem} when a text cannot be stored.
   * Nothing is changed then.
   */
  adopt<T>(db: AgentDb, id: string, path: string, register: Register<T>): Promise<T>
}

export type WhileClosed = (work: () => Promise<void>) => Promise<void>
export type Register<T> = (tx: AgentTx, arrived: string | null) => Promise<T>
