/** The folder `wallets` of the data folder, with one file for each wallet. */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { across } from '../foundation/probe.ts'
import { type AgentDb, makeWalletDb, openExistingWalletDb, type Db } from '../foundation/storage/database.ts'
import { DamagedFileError } from '../foundation/storage/file-errors.ts'
import { removeDatabase, replaceDatabase } from '../foundation/storage/files.ts'
import { withLogSync } from '../foundation/storage/log-sync.ts'
import { copyClosed, hasNoLog, openSnapshot } from '../foundation/storage/snapshot.ts'
import { findSetAside, missingFile, removeWalletFiles, setAside } from './wallet-file.ts'
import type { Register, WalletContents, WalletStore, WhileClosed } from './wallet-store.ts'

export class WalletFolder implements WalletStore {
  readonly system = 'sqlite'
  readonly #path: string
  /**
   * The folder of wallet files that are being exported or imported. It is on the same disk, so that a rename
   * moves a file to its place.
   */
  readonly transit: string

  constructor(dataDir: string) {
    this.#path = join(dataDir, 'wallets')
    this.transit = join(this.#path, 'transit')
    mkdirSync(this.#path, { recursive: true, mode: 0o700 })
  }

  /** The path of a wallet's file. */
  pathOf(id: string): string {
    return join(this.#path, `${id}.db`)
  }

  nameOf(id: string): string {
    return this.pathOf(id)
  }

  create(id: string, fill: (db: Db) => Promise<unknown>): Promise<void> {
    const path = this.pathOf(id)
    removeDatabase(path)
    return makeWalletDb(path, fill)
  }

  async open(id: string, isSuspect: boolean): Promise<WalletContents> {
    const path = this.pathOf(id)
    // SQLite would create the file.
    if (!existsSync(path)) throw missingFile(path, id)
    if (!statSync(path).isFile()) throw new DamagedFileError(path, 'is not a file')
    return withLogSync(path, await openExistingWalletDb(path, { isSuspect }))
  }

  /** Renames the file. */
  setAside(id: string, cause: Error): Error {
    const path = this.pathOf(id)
    setAside(path)
    return missingFile(path, id, cause)
  }

  remove(id: string): Promise<void> {
    return Promise.resolve(removeWalletFiles(this.pathOf(id)))
  }

  async copyTo(id: string, path: string, whileClosed?: WhileClosed): Promise<void> {
    const own = this.pathOf(id)
    // Opening a closed file would create a log beside it, so it is copied while it is closed.
    if (whileClosed && hasNoLog(own)) return whileClosed(() => copyClosed(own, path))
    const snapshot = openSnapshot(own)
    await snapshot.copyTo(path).finally(() => snapshot.close())
  }

  /** The next opening, or the next start, moves the file if this process is killed in between. */
  async adopt<T>(db: AgentDb, id: string, path: string, register: Register<T>): Promise<T> {
    const arrived = basename(path)
    const registered = await across('import-rows', { walletId: id }, () =>
      db.transaction().execute((tx) => register(tx, arrived)),
    )
    await across('import-place', { walletId: id }, () => Promise.resolve(this.install(id, arrived)))
    return registered
  }

  /** Moves the file of an imported wallet from `transit` to its place, if that is not done yet. */
  install(id: string, arrived: string): void {
    const from = join(this.transit, arrived)
    if (existsSync(from)) replaceDatabase(from, this.pathOf(id))
  }

  /** The names of files that were set aside as damaged and not replaced since. */
  setAsideFiles(): string[] {
    return findSetAside(this.#path)
  }
}
