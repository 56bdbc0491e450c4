/** Where the contents of wallets are kept. */
import type { Db } from '../storage/database.ts'

/** The opened contents of a wallet. */
export type WalletContents = {
  readonly db: Db
  /** Resolves when all earlier commits are on the disk. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** One file for each wallet (`wallet-folder.ts`), or rows in PostgreSQL (`wallet-rows.ts`). */
export type WalletStore = {
  /** The name of the database system in traces (OpenTelemetry, `db.system.name`). */
  readonly system: 'sqlite' | 'postgresql'
  /** Creates the contents of a new wallet with the rows that `fill` writes, and replaces what a crash may have left. */
  create(id: string, fill: (db: Db) => Promise<unknown>): Promise<void>
  /**
   * Opens the contents of a wallet. With `isSuspect`, all of it is checked first.
   *
   * @throws {DamagedFileError}, {NewerFileError}, {Problem} `WalletUnreadable` when they are missing, {NotOwnerError}
   */
  open(id: string, isSuspect: boolean): Promise<WalletContents>
  /** The name of the contents in errors. */
  nameOf(id: string): string
  /** Keeps damaged contents for the operator. @returns the problem of the wallet */
  setAside(id: string, cause: Error): Error
  /** Removes the contents, if they exist. */
  remove(id: string): Promise<void>
}
