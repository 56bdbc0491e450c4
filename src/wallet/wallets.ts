/** All wallets of the agent. Wallets are opened when they are used; `AGENT_OPEN_WALLETS` of them stay open. */
import { setTimeout } from 'node:timers/promises'
import PQueue from 'p-queue'
import type { Log } from '../foundation/log.ts'
import { Problem } from '../foundation/problem.ts'
import { setGlobalWebhook } from './events/webhooks.ts'
import { DamagedFileError, isDiskFault } from '../foundation/storage/file-errors.ts'
import { newOwnId } from '../cluster/ownership.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import { NotOwnerError } from '../foundation/storage/not-owner-error.ts'
import type { Paging } from '../foundation/storage/list-query.ts'
import { walletNotFound, walletTransferred } from '../foundation/storage/transferred.ts'
import type { Environment } from './environment.ts'
import { becomesIdle } from './idle.ts'
import type { CompleteWallet, CreateWallet, WalletDetail } from './model.ts'
import { createWallet, findWallet, getPresent, listWallets, readActiveIds, setMovedAt } from './registry.ts'
import { unreadable, unwrapWalletKey } from './wallet-file.ts'
import { WalletFolder } from './wallet-folder.ts'
import type { WalletStore } from './wallet-store.ts'
import { openWallet, type Wallet } from './wallet.ts'

/** An open wallet, or one that is being opened. */
type Entry = {
  wallet: Promise<Wallet>
  users: number
  /** Called when the last user is done. */
  onIdle?: () => void
  /**
   * The wallet is closed when its last user is done: its file is checked, or the disk may be writable when it
   * is opened next.
   */
  isSuspect?: boolean
  isUnwritable?: boolean
}

export class Wallets {
  readonly #env: Environment
  readonly #db: AgentDb
  readonly #agentKey: Uint8Array
  readonly folder: WalletFolder
  readonly store: WalletStore
  /** The least recently used entry first. */
  readonly #open = new Map<string, Entry>()
  /** A wallet in this map is opened after its promise resolves. */
  readonly #closing = new Map<string, Promise<void>>()
  /** Wallets in whose file SQLite found an error: the next opening checks the whole file. */
  readonly #suspectFiles = new Set<string>()
  /** Wallets whose files are open, or about to be. */
  readonly #files = new Set<string>()
  #isClosed = false
  /** Runs one creation at a time: two with the same id or seed must see each other. */
  readonly #creations = new PQueue({ concurrency: 1 })

  /** `store` is the folder `wallets` of the data folder by default. */
  constructor(env: Environment, db: AgentDb, agentKey: Uint8Array, store?: WalletStore) {
    this.#env = env
    this.#db = db
    this.#agentKey = agentKey
    this.folder = new WalletFolder(env.config.AGENT_DATA_DIR)
    this.store = store ?? this.folder
    env.metrics.read('agent_wallets_open', () => this.#open.size)
    env.ownership.onLoss((owns) => this.#closeUnowned(owns))
  }

  /**
   * Runs `use` with an open wallet. `log` gets the errors of its file.
   *
   * @throws {NotOwnerError}, {Problem} `WalletNotFound`, `WalletUnreadable`
   */
  async use<T>(id: string, use: (wallet: Wallet) => Promise<T>, log = this.#env.log): Promise<T> {
    if (this.#isClosed) throw new Error('the agent is stopping: no wallet is opened any more')
    this.assertOwned(id)
    const entry: Entry = this.#open.get(id) ?? { wallet: this.#openBehindBarrier(id, log), users: 0 }
    this.#open.delete(id)
    this.#open.set(id, entry)
    entry.users++
    try {
      const wallet = await entry.wallet
      if (wallet.isSuspended()) throw walletTransferred(id)
      return await use(wallet)
    } catch (error) {
      // Drop an entry that failed to open, so that the next call tries again.
      const drop = () => this.#open.get(id) === entry && this.#open.delete(id)
      await entry.wallet.then(() => (entry.isUnwritable ||= isDiskFault(error)), drop)
      if (!(error instanceof DamagedFileError && error.path === this.store.nameOf(id))) throw error
      const message = 'a wallet file may be damaged: it is checked before its next use'
      log.error({ err: error, walletId: id }, message)
      entry.isSuspect = true
      this.#suspectFiles.add(id)
      throw unreadable(id, 'It is being checked, and set aside if it is damaged.', error)
    } finally {
      entry.users--
      if (entry.users === 0) entry.onIdle?.()
      if (entry.isSuspect && entry.users === 0) {
        this.#close(id, entry)
        // The worker opens the wallet, and so checks its file.
        this.#env.onCommit(id, ['jobs', 'events'])
      } else if (entry.isUnwritable && entry.users === 0) this.#close(id, entry)
      this.#closeIdle()
    }
  }

  /**
   * Creates a wallet. `complete` writes in the same transaction of agent.db.
   *
   * @throws {NotOwnerError}, {Problem} `DuplicatedWalletId`, `DuplicatedWalletSeed`
   */
  create({ id = newOwnId(this.#env.ownership), ...input }: CreateWallet, complete?: CompleteWallet) {
    this.assertOwned(id)
    const made = { id, ...input, complete }
    return this.serializeCreation(() => createWallet(this.#db, this.#agentKey, made, this.store))
  }

  /** @throws {NotOwnerError} */
  assertOwned(id: string): void {
    if (!this.#env.ownership.owns(id)) throw new NotOwnerError(id)
  }

  find = (id: string): Promise<WalletDetail | undefined> => findWallet(this.#db, id)
  list = (paging: Paging) => listWallets(this.#db, paging)

  /** The ids of all wallets that are not suspended and that this process owns. */
  ids = async (): Promise<string[]> => (await readActiveIds(this.#db)).filter(this.#env.ownership.owns)

  /** The number of such wallets of all processes. */
  countAll = async (): Promise<number> => (await readActiveIds(this.#db)).length

  /** Runs `work` while no wallet is created, so that free ids and seeds stay free. */
  serializeCreation = <T>(work: () => Promise<T>): Promise<T> => this.#creations.add(work)

  /**
   * Suspends a wallet that is being transferred to another agent. When this resolves, nothing writes to its
   * file any more.
   *
   * @throws {Problem} `WalletNotFound`
   */
  async suspend(id: string): Promise<WalletDetail> {
    this.assertOwned(id)
    const detail = await setMovedAt(this.#db, id, new Date().toISOString())
    await (await this.#open.get(id)?.wallet.catch(() => undefined))?.suspend()
    return detail
  }

  /** Ends the suspension of a wallet. @throws {Problem} `WalletNotFound` */
  async resume(id: string): Promise<WalletDetail> {
    this.assertOwned(id)
    const detail = await setMovedAt(this.#db, id, null)
    ;(await this.#open.get(id)?.wallet.catch(() => undefined))?.resume()
    this.#env.onCommit(id, ['jobs', 'events'])
    return detail
  }

  /**
   * Runs `work` on the file of a wallet while the wallet is closed.
   *
   * @throws {Problem} `Conflict` while it is used.
   */
  withClosedFile<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.assertOwned(id)
    const entry = this.#open.get(id)
    if (entry && entry.users > 0)
      throw new Problem('Conflict', `The wallet ${id} is in use. Try again in a moment.`)
    if (entry) this.#close(id, entry)
    const closed = this.#closing.get(id)
    const done = this.#env.writeBarrier.write(id, async () => {
      await closed
      return work()
    })
    const ended = done.catch(() => undefined)
    this.#keepClosed(id, ended)
    return done
  }

  /**
   * Closes a wallet whose row is deleted, and removes its files. Work under way with the wallet gets five
   * seconds to end.
   */
  async discard(id: string): Promise<void> {
    const entry = this.#open.get(id)
    if (entry) {
      this.#open.delete(id)
      const wallet = await entry.wallet.catch(() => undefined)
      await wallet?.suspend(() => walletNotFound(id))
      await Promise.race([becomesIdle(entry), setTimeout(5_000, undefined, { ref: false })])
      this.#close(id, entry)
    }
    await this.#closing.get(id)
    // A backup under way copies the files first.
    await this.#env.writeBarrier.write(id, () => this.store.remove(id))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const [id, entry] of this.#open) this.#close(id, entry)
    await Promise.all(this.#closing.values())
  }

  /**
   * Whether the file of a wallet may be open, here or in another process. A closed one is opened behind the
   * write barrier only.
   */
  isOpen = (id: string): boolean =>
    this.#files.has(id) || this.#closing.has(id) || !this.#env.ownership.owns(id)

  /** Opening a file may change it, for example by a migration. */
  #openBehindBarrier(id: string, log: Log): Promise<Wallet> {
    return this.#env.writeBarrier.write(id, () =>
      this.#openFile(id, log).catch((error: unknown) => {
        this.#files.delete(id)
        throw error
      }),
    )
  }

  async #openFile(id: string, log: Log): Promise<Wallet> {
    const { wrapped_key, arrived, number } = await getPresent(this.#db, id)
    await this.#closing.get(id)
    if (arrived !== null) this.folder.install(id, arrived)
    const key = unwrapWalletKey(this.#agentKey, id, wrapped_key)
    this.#files.add(id)
    const isSuspect = this.#suspectFiles.has(id)
    const wallet = await openWallet(this.#env, this.store, { id, number, key, isSuspect }, log)
    this.#suspectFiles.delete(id)
    try {
      const hasWebhook = this.#env.config.GLOBAL_WEBHOOK_URL !== undefined
      await wallet.db.transaction().execute((tx) => setGlobalWebhook(tx, hasWebhook))
      return wallet
    } catch (error) {
      await wallet.close()
      throw error
    }
  }

  /** Closes the wallets that another process is about to own. Work under way with them ends first. */
  async #closeUnowned(owns: (id: string) => boolean): Promise<void> {
    await Promise.all(
      [...this.#open].map(async ([id, entry]) => {
        if (owns(id)) return
        void entry.wallet.then((wallet) => wallet.disown()).catch(() => undefined)
        await becomesIdle(entry)
        if (this.#open.get(id) === entry) this.#close(id, entry)
        await this.#closing.get(id)
      }),
    )
  }

  #close(id: string, entry: Entry): void {
    if (this.#open.get(id) === entry) this.#open.delete(id)
    const complain = (err: unknown) => this.#env.log.error({ err, walletId: id }, 'a wallet did not close')
    this.#keepClosed(id, entry.wallet.then((wallet) => wallet.close()).catch(complain))
  }

  /** Delays the opening of a wallet until `work` resolves. `work` must not reject. */
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
}
