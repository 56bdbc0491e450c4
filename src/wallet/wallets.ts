/** All wallets of the agent: made, listed, opened while they are needed, a bounded number at a time (service §2.2). */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import PQueue from 'p-queue'
import type { Log } from '../base/log.ts'
import { Problem } from '../base/problem.ts'
import { setGlobalWebhook } from '../events/webhooks.ts'
import { DamagedFileError } from '../storage/damaged-file-error.ts'
import type { AgentDb } from '../storage/database.ts'
import { replaceDatabase } from '../storage/files.ts'
import { walletTransferred } from '../storage/transferred.ts'
import { toWalletDetail, type CreateWallet, type WalletDetail } from './model.ts'
import { makeWallet, findWallet, listWallets, readIds } from './registry.ts'
import { openOrSetAside, findSetAside, unreadable, unwrapWalletKey } from './wallet-file.ts'
import type { Environment, Wallet } from './wallet.ts'

type Entry = {
  wallet: Promise<Wallet>
  users: number
  /** Closed as soon as nobody uses it. */
  isInDoubt?: boolean
}

export class Wallets {
  readonly #env: Environment
  readonly #db: AgentDb
  readonly #agentKey: Uint8Array
  readonly #folder: string
  /** Where files of wallets are that come from another agent, or go to one: beside the others, so that one gets its place by its name alone. */
  readonly transitFolder: string
  /** Open wallets, the one used longest ago first. */
  readonly #open = new Map<string, Entry>()
  /** Wallets that are being closed, which are not opened before that is done. */
  readonly #closing = new Map<string, Promise<void>>()
  /** Wallets in whose file SQLite found something wrong: it looks them through when they are opened next. */
  readonly #inDoubt = new Set<string>()
  /** Wallets whose files are open, or about to be. */
  readonly #files = new Set<string>()
  #isClosed = false
  /** One at a time, so that of two with one id or one seed the second sees the first. */
  readonly #making = new PQueue({ concurrency: 1 })

  constructor(env: Environment, db: AgentDb, agentKey: Uint8Array) {
    this.#env = env
    this.#db = db
    this.#agentKey = agentKey
    this.#folder = join(env.config.AGENT_DATA_DIR, 'wallets')
    this.transitFolder = join(this.#folder, 'transit')
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  /** Runs `use` with a wallet, which stays open at least as long; `log` is that of whoever asks. @throws {Problem} `WalletNotFound`, `WalletUnreadable` */
  async use<T>(id: string, use: (wallet: Wallet) => Promise<T>, log = this.#env.log): Promise<T> {
    if (this.#isClosed) throw new Error('the agent is stopping: no wallet is opened any more')
    const entry = this.#entryOf(id, log)
    this.#open.delete(id)
    this.#open.set(id, entry)
    entry.users++
    try {
      const wallet = await entry.wallet
      if (wallet.isSuspended()) throw walletTransferred(id)
      return await use(wallet)
    } catch (error) {
      // A wallet that did not open is not kept, so that the next attempt tries again; what that has opened is not ours to drop.
      await entry.wallet.catch(() => this.#open.get(id) === entry && this.#open.delete(id))
      if (!(error instanceof DamagedFileError && error.path === this.pathOf(id))) throw error
      log.error(
        { err: error, walletId: id },
        'the file of a wallet is in doubt: it is looked through before it is used again',
      )
      entry.isInDoubt = true
      this.#inDoubt.add(id)
      throw unreadable(id, 'It is looked through, and set aside if it is damaged.', error)
    } finally {
      entry.users--
      if (entry.isInDoubt && entry.users === 0) {
        this.#close(id, entry)
        // A writer learns of the failure by its error; the worker has to be woken.
        this.#env.onCommit(id, { jobs: true, events: true })
      }
      this.#closeIdle()
    }
  }

  /** The wallet as it is open, or is being opened now. */
  #entryOf(id: string, log: Log): Entry {
    return this.#open.get(id) ?? { wallet: this.#openBehindBarrier(id, log), users: 0 }
  }

  /**
   * Makes a wallet: its file first, then the row that makes it known.
   *
   * @throws {Problem} `DuplicatedWalletId`, `DuplicatedWalletSeed`
   */
  create(wanted: CreateWallet): Promise<WalletDetail> {
    return this.serializeCreation(() => makeWallet(this.#db, this.#agentKey, wanted, (id) => this.pathOf(id)))
  }

  /** The wallet with an id, as REST shows it. */
  find(id: string): Promise<WalletDetail | undefined> {
    return findWallet(this.#db, id)
  }

  /** A page of wallets in the order of their making, and how many there are. */
  list(paging: { offset: number; limit: number }): Promise<{ wallets: WalletDetail[]; total: number }> {
    return listWallets(this.#db, paging)
  }

  /** The ids of all wallets but those that rest here. */
  ids(): Promise<string[]> {
    return readIds(this.#db)
  }

  /** Does something between the making of wallets, so that ids and seeds that are free stay so. */
  serializeCreation<T>(work: () => Promise<T>): Promise<T> {
    return this.#making.add(work)
  }

  /**
   * Suspends a wallet that is being transferred to another agent. When this resolves, nothing writes to its file any more.
   *
   * @throws {Problem} `WalletNotFound`
   */
  async suspend(id: string): Promise<WalletDetail> {
    const detail = await this.#setMovedAt(id, new Date().toISOString())
    // Later attempts to open it read the row.
    const wallet = await this.#open.get(id)?.wallet.catch(() => undefined)
    await wallet?.suspend()
    return detail
  }

  /** Ends the suspension of a wallet. @throws {Problem} `WalletNotFound` */
  async resume(id: string): Promise<WalletDetail> {
    const detail = await this.#setMovedAt(id, null)
    const wallet = await this.#open.get(id)?.wallet.catch(() => undefined)
    wallet?.resume()
    this.#env.onCommit(id, { jobs: true, events: true })
    return detail
  }

  async #setMovedAt(id: string, moved_at: string | null): Promise<WalletDetail> {
    const update = this.#db.updateTable('wallet').set({ moved_at }).where('id', '=', id)
    const row = await update.returningAll().executeTakeFirst()
    if (!row) throw notFound(id)
    return toWalletDetail(row)
  }

  /** Does something with the file of a wallet while nobody has it open; whoever wants it waits. @throws {Problem} `Conflict` while it is used. */
  withClosedFile<T>(id: string, work: () => Promise<T>): Promise<T> {
    const entry = this.#open.get(id)
    if (entry && entry.users > 0)
      throw new Problem('Conflict', `The wallet ${id} is being read. Try again in a moment.`)
    if (entry) this.#close(id, entry)
    const before = this.#closing.get(id)
    const done = this.#env.writeBarrier.write(id, async () => {
      await before
      return work()
    })
    this.#keepClosed(
      id,
      done.catch(() => undefined),
    )
    return done
  }

  /** Gives the file of a wallet that was imported its place, if it has not got it yet. */
  installFile(id: string, arrived: string): void {
    const from = join(this.transitFolder, arrived)
    if (existsSync(from)) replaceDatabase(from, this.pathOf(id))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const [id, entry] of this.#open) this.#close(id, entry)
    await Promise.all(this.#closing.values())
  }

  /** The names of files that were set aside as damaged, and that nothing has been put in the place of. */
  setAside(): string[] {
    return findSetAside(this.#folder)
  }

  /** Whether the file of a wallet may be open. One that is not is opened by way of the gate only. */
  isOpen(id: string): boolean {
    return this.#files.has(id) || this.#closing.has(id)
  }

  /** To open a file may already change it. */
  #openBehindBarrier(id: string, log: Log): Promise<Wallet> {
    return this.#env.writeBarrier.write(id, async () => {
      try {
        return await this.#openFile(id, log)
      } catch (error) {
        this.#files.delete(id)
        throw error
      }
    })
  }

  async #openFile(id: string, log: Log): Promise<Wallet> {
    const known = this.#db
      .selectFrom('wallet')
      .select(['wrapped_key', 'moved_at', 'arrived'])
      .where('id', '=', id)
    const row = await known.executeTakeFirst()
    if (!row) throw notFound(id)
    if (row.moved_at !== null) throw walletTransferred(id)
    await this.#closing.get(id)
    if (row.arrived !== null) this.installFile(id, row.arrived)
    const key = unwrapWalletKey(this.#agentKey, id, row.wrapped_key)
    this.#files.add(id)
    const wallet = await openOrSetAside(
      this.#env,
      { id, path: this.pathOf(id), key, isInDoubt: this.#inDoubt.has(id) },
      log,
    )
    this.#inDoubt.delete(id)
    try {
      await wallet.db
        .transaction()
        .execute((tx) => setGlobalWebhook(tx, this.#env.config.GLOBAL_WEBHOOK_URL !== undefined))
      return wallet
    } catch (error) {
      await wallet.close()
      throw error
    }
  }

  #close(id: string, entry: Entry): void {
    if (this.#open.get(id) === entry) this.#open.delete(id)
    const closed = entry.wallet
      .then((wallet) => wallet.close())
      .catch((error: unknown) => this.#env.log.error({ err: error, walletId: id }, 'a wallet did not close'))
    this.#keepClosed(id, closed)
  }

  /** Has nobody open a wallet before something is done, which must not reject. */
  #keepClosed(id: string, work: Promise<unknown>): void {
    const closing = work.then(() => {
      if (this.#closing.get(id) !== closing) return
      this.#closing.delete(id)
      this.#files.delete(id)
    })
    this.#closing.set(id, closing)
  }

  #closeIdle(): void {
    for (const [id, entry] of this.#open) {
      if (this.#open.size <= this.#env.config.AGENT_OPEN_WALLETS) return
      if (entry.users === 0) this.#close(id, entry)
    }
  }

  /** Where the file of a wallet is. */
  pathOf(id: string): string {
    return join(this.#folder, `${id}.db`)
  }
}

function notFound(id: string): Problem {
  return new Problem('error:WalletManagementServiceError:WalletNotFound', `There is no wallet ${id}.`)
}
