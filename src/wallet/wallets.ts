/** All wallets of the agent: made, listed, opened while they are needed, a bounded number at a time (service §2.2). */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { fromHex, toHex } from '../base/bytes.ts'
import { newId } from '../base/id.ts'
import type { Log } from '../base/log.ts'
import { Problem } from '../base/problem.ts'
import { keyedDigest, newSealKey, seal, unseal, withSealKey } from '../base/seal.ts'
import { setGlobalWebhook } from '../outbox/webhooks.ts'
import { DamagedFileError } from '../storage/damaged-file-error.ts'
import type { AgentDb } from '../storage/database.ts'
import { NewerFileError } from '../storage/newer-file-error.ts'
import type { CreateWallet, WalletDetail } from './model.ts'
import { filesOf, findSetAside, nameAside, setAside, unreadable, unusable } from './set-aside.ts'
import { createWalletFile, openWallet, type Environment, type Wallet } from './wallet.ts'

type Entry = {
  wallet: Promise<Wallet>
  users: number
  /** Whether its file is to be examined before it is used again, as `Wallet.isDue` says. */
  isDue: () => boolean
  /** Closed as soon as nobody uses it. */
  isInDoubt?: boolean
}

export class Wallets {
  readonly #env: Environment
  readonly #db: AgentDb
  readonly #agentKey: Uint8Array
  readonly #folder: string
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
      return await use(await entry.wallet)
    } catch (error) {
      // A wallet that did not open is not kept, so that the next attempt tries again; what that has opened is not ours to drop.
      await entry.wallet.catch(() => this.#open.get(id) === entry && this.#open.delete(id))
      if (!(error instanceof DamagedFileError && error.path === this.#path(id))) throw error
      log.error({ err: error, walletId: id }, 'the file of a wallet is in doubt: it is looked through before it is used again')
      entry.isInDoubt = true
      this.#inDoubt.add(id)
      throw unreadable(id, 'It is looked through, and set aside if it is damaged.', error)
    } finally {
      entry.users--
      if (entry.isInDoubt && entry.users === 0) this.#close(id, entry)
      this.#closeIdle()
    }
  }

  /** The wallet as it is open, or is being opened now. */
  #entryOf(id: string, log: Log): Entry {
    const open = this.#open.get(id)
    if (open?.isDue()) {
      if (open.users > 0) open.isInDoubt = true
      else this.#close(id, open)
    }
    const known = this.#open.get(id)
    if (known) return known
    const made: Entry = { wallet: this.#openInTurn(id, log), users: 0, isDue: () => false }
    made.wallet.then(({ isDue }) => (made.isDue = isDue)).catch(() => undefined)
    return made
  }

  /**
   * Makes a wallet: its file first, then the row that makes it known.
   *
   * @throws {Problem} `DuplicatedWalletId`, `DuplicatedWalletSeed`
   */
  create(wanted: CreateWallet): Promise<WalletDetail> {
    return this.#making.add(() => this.#create(wanted))
  }

  async #create({ id = newId(), name, seed: seedHex }: CreateWallet): Promise<WalletDetail> {
    const seed = seedHex === undefined ? randomBytes(64) : fromHex(seedHex)
    const seedDigest = withSealKey(this.#agentKey, 'seed-digest', (key) => keyedDigest(key, toHex(seed)))
    if (await this.find(id))
      throw new Problem(
        'error:WalletManagementServiceError:DuplicatedWalletId',
        `A wallet with the id ${id} exists already. Leave the id out and one is made.`,
      )
    const twin = await this.#db.selectFrom('wallet').select('id').where('seed_digest', '=', seedDigest).executeTakeFirst()
    if (twin)
      throw new Problem(
        'error:WalletManagementServiceError:DuplicatedWalletSeed',
        'Another wallet has this seed already. Leave the seed out and a random one is made.',
      )
    const key = newSealKey()
    const path = this.#path(id)
    // What a crash left behind without a row belongs to nobody.
    for (const file of filesOf(path)) rmSync(file, { force: true })
    await createWalletFile(id, path, key, seed)
    const now = new Date().toISOString()
    const wrapped = withSealKey(this.#agentKey, 'wallet-keys', (walletKeys) => seal(walletKeys, `wallet:${id}`, key))
    for (const secret of [key, seed]) secret.fill(0)
    await this.#db
      .insertInto('wallet')
      .values({ id, name, wrapped_key: wrapped, seed_digest: seedDigest, created_at: now, updated_at: now })
      .execute()
    return { id, name, createdAt: now, updatedAt: now }
  }

  /** The wallet with an id, as REST shows it. */
  async find(id: string): Promise<WalletDetail | undefined> {
    const row = await this.#db.selectFrom('wallet').selectAll().where('id', '=', id).executeTakeFirst()
    return row && { id: row.id, name: row.name, createdAt: row.created_at, updatedAt: row.updated_at }
  }

  /** A page of wallets in the order of their making, and how many there are. */
  async list({ offset, limit }: { offset: number; limit: number }): Promise<{ wallets: WalletDetail[]; total: number }> {
    const { total } = await this.#db
      .selectFrom('wallet')
      .select((eb) => eb.fn.countAll().as('total'))
      .executeTakeFirstOrThrow()
    const rows = await this.#db.selectFrom('wallet').selectAll().orderBy('created_at').orderBy('id').offset(offset).limit(limit).execute()
    return {
      wallets: rows.map((row) => ({ id: row.id, name: row.name, createdAt: row.created_at, updatedAt: row.updated_at })),
      total: Number(total),
    }
  }

  /** The ids of all wallets. */
  async ids(): Promise<string[]> {
    return (await this.#db.selectFrom('wallet').select('id').execute()).map(({ id }) => id)
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
  #openInTurn(id: string, log: Log): Promise<Wallet> {
    return this.#env.gate.write(id, async () => {
      try {
        return await this.#openFile(id, log)
      } catch (error) {
        this.#files.delete(id)
        throw error
      }
    })
  }

  async #openFile(id: string, log: Log): Promise<Wallet> {
    const row = await this.#db.selectFrom('wallet').select('wrapped_key').where('id', '=', id).executeTakeFirst()
    if (!row) throw new Problem('error:WalletManagementServiceError:WalletNotFound', `There is no wallet ${id}.`)
    const key = withSealKey(this.#agentKey, 'wallet-keys', (walletKeys) => unseal(walletKeys, `wallet:${id}`, row.wrapped_key))
    const wallet = await this.#openWith(id, key, log)
    try {
      await wallet.db.transaction().execute((tx) => setGlobalWebhook(tx, this.#env.config.GLOBAL_WEBHOOK_URL !== undefined))
      return wallet
    } catch (error) {
      await wallet.close()
      throw error
    }
  }

  async #openWith(id: string, key: Uint8Array, log: Log): Promise<Wallet> {
    await this.#closing.get(id)
    this.#files.add(id)
    const path = this.#path(id)
    // SQLite would make an empty one.
    if (!existsSync(path)) throw unusable(this.#folder, id)
    try {
      const wallet = await openWallet(this.#env, id, path, key, this.#inDoubt.has(id))
      this.#inDoubt.delete(id)
      return wallet
    } catch (error) {
      if (error instanceof NewerFileError)
        throw unreadable(id, 'It was written by a newer release of the agent, and was left as it is: start that release.', error)
      if (!(error instanceof DamagedFileError)) throw error
      this.#inDoubt.delete(id)
      const name = nameAside(path)
      log.error({ err: error, walletId: id, setAsideAs: name }, 'the file of a wallet is damaged or another’s, and is set aside')
      setAside(path, name)
      throw unusable(this.#folder, id, error)
    }
  }

  #close(id: string, entry: Entry): void {
    if (this.#open.get(id) === entry) this.#open.delete(id)
    const closing = entry.wallet
      .then((wallet) => wallet.close())
      .catch((error: unknown) => this.#env.log.error({ err: error, walletId: id }, 'a wallet did not close'))
      .finally(() => {
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

  #path(id: string): string {
    return join(this.#folder, `${id}.db`)
  }
}
