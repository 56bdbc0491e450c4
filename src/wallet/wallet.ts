/** The handle of one open wallet: its file, its keys, and the world it acts in. */
import type { AnonCredsEnvironment } from '../anoncreds/environment.ts'
import type { Config } from '../base/config.ts'
import { fromUtf8 } from '../base/bytes.ts'
import type { Log } from '../base/log.ts'
import { probe } from '../base/probe.ts'
import { seal, unseal } from '../base/seal.ts'
import { createDerivation, type KeyPath } from '../crypto/derive.ts'
import type { PrivateJwk } from '../crypto/keys.ts'
import type { Resolver } from '../did/resolver.ts'
import type { Destinations } from '../net/destinations.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import { DamagedFileError } from '../storage/damaged-file-error.ts'
import { makeWalletDb, openKnownWalletDb, type AgentDb, type Db, type Tx } from '../storage/database.ts'
import { flushLog } from '../storage/log-sync.ts'
import { walletTransferred } from '../storage/transferred.ts'
import { prepared } from '../storage/prepared.ts'
import { changesOf, pruneLogs, watchThreads, type Changes } from '../storage/tx-context.ts'
import { Writer, type WriteOptions } from '../storage/writer.ts'
import type { Ledger } from '../vdr/ledger.ts'
import type { WriteBarrier } from './write-barrier.ts'

/** What lies outside of every wallet and is the same for all of them. */
export type Environment = AnonCredsEnvironment & {
  readonly config: Config
  readonly log: Log
  /** The agent's own database: what all tenants share. For reading. */
  readonly db: AgentDb
  /** Public base URLs, without a slash at the end. */
  readonly urls: { readonly rest: string; readonly didcomm: string }
  readonly resolver: Resolver
  readonly ledger: Ledger
  /** For addresses that a tenant or a peer names. */
  readonly http: HttpClient
  /** Who is sent how much at a time. */
  readonly destinations: Destinations
  /** Counts a message of a stranger that is answered. @throws {Problem} 429 when it is one too many. */
  limitReplies(message: { address?: string; to: string }): Promise<void>
  /** For addresses that the operator has configured, wherever they are. */
  readonly operatorHttp: HttpClient
  /** The JSON schema of claims that a URL stands for, also a DID URL. @throws {Problem} 422 when it cannot be had. */
  getSchema(url: string): Promise<unknown>
  /** What a URL stands for, as it was published: a schema, and the registry's record around it if there is one. @throws {Problem} as `getSchema`. */
  readSchema(url: string): Promise<{ schema: Record<string, unknown>; record?: Record<string, unknown> }>
  /** What the URL of a status list answers, nothing of it verified; `type` is that of the entry. See `credential-status/read.ts`. */
  getStatusList(url: string, type: 'StatusList2021Entry' | 'BitstringStatusListEntry'): Promise<string>
  /** A public id for a status list of this wallet, never the same twice. */
  newStatusListId(walletId: string): string
  /** A public token by which the DIDComm endpoint finds this wallet, never the same twice. */
  newMailbox(walletId: string): string
  /** Where writes to wallets' files pass, so that they can be copied all at one instant. */
  readonly writeBarrier: WriteBarrier
  /** Called after a commit that changed jobs or events: it wakes the worker and notifies event streams. */
  onCommit(walletId: string, changes: Changes): void
}

export type Wallet = {
  readonly id: string
  /** For reading. */
  readonly db: Db
  readonly env: Environment
  /** The key at a path below the wallet's seed; worked out once, since that takes milliseconds. */
  deriveKey(path: KeyPath): PrivateJwk
  /** Seals a text with this wallet's key; `context` says which row it belongs to. */
  seal(context: string, text: string): string
  /** @throws when it was sealed for another row or another wallet, or was changed. */
  unseal(context: string, sealed: string): string
  /** What a sealed text says, as `read` has understood it: what is asked for again and again is opened once. @throws as `unseal`, and what `read` throws */
  opened<T extends object>(context: string, sealed: string, read: (text: string) => T): T
  /**
   * The only way to write: all of it or nothing, and on disk when it returns. Inside, touch nothing but `tx`. What may be lost with the process,
   * since it would only be done once more, `canWait`: it is written with what others write, or a moment later.
   */
  transaction<T>(write: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Resolves when whoever reads finds what could wait, too. */
  flush(): Promise<void>
  /** Whether writes are refused because the wallet is being transferred to another agent. */
  isSuspended: () => boolean
  /** Refuses writes from now on. Resolves when the writes under way are on disk. */
  suspend(): Promise<void>
  /** Accepts writes again. */
  resume(): void
  /** Closes the file. */
  close(): Promise<void>
}

/**
 * Opens a wallet's file, which must be there, with the wallet's key. One that is in doubt is looked through by SQLite, too.
 *
 * @throws {DamagedFileError} when it is damaged, or is not this wallet's.
 */
export async function openWallet(
  env: Environment,
  id: string,
  path: string,
  key: Uint8Array,
  isInDoubt = false,
): Promise<Wallet> {
  const db = await openKnownWalletDb(path, { isInDoubt })
  try {
    return handle(env, id, path, db, key, await readSeed(db, id, path, key))
  } catch (error) {
    await db.destroy()
    throw error
  }
}

const sealedSeed = prepared((db: Db) => db.selectFrom('setting').select('value').where('name', '=', 'seed'))

/** The seed of a wallet. @throws {DamagedFileError} when the file at `path` is another wallet's. */
export async function readSeed(db: Db, id: string, path: string, key: Uint8Array): Promise<Uint8Array> {
  const { rows } = await sealedSeed(db, {})
  try {
    return unseal(key, seedContext(id), rows[0]?.value ?? '')
  } catch (error) {
    throw new DamagedFileError(
      path,
      `is not the file of the wallet ${id}: its seed does not open with the wallet's key`,
      { cause: error },
    )
  }
}

/** Seals the seed of a wallet that has another id from now on. */
export async function resealSeed(db: Db, id: string, key: Uint8Array, seed: Uint8Array): Promise<void> {
  const value = seal(key, seedContext(id), seed)
  await db.updateTable('setting').set({ value }).where('name', '=', 'seed').execute()
}

/** Makes a wallet's file with its seed in it. */
export async function createWalletFile(
  id: string,
  path: string,
  key: Uint8Array,
  seed: Uint8Array,
): Promise<void> {
  await makeWalletDb(path, (db) =>
    db
      .insertInto('setting')
      .values({ name: 'seed', value: seal(key, seedContext(id), seed) })
      .execute(),
  )
}

/** Derived keys, and sealed texts that were opened, which an open wallet keeps. */
const keptKeys = 200
const keptTexts = 100

function handle(
  env: Environment,
  id: string,
  path: string,
  db: Db,
  key: Uint8Array,
  seed: Uint8Array,
): Wallet {
  const derived = new Map<string, PrivateJwk>()
  const opened = new Map<string, { sealed: string; content: object }>()
  let isClosed = false
  let isSuspended = false
  /** What is left of the keys then is zeros, which must not be taken for keys. */
  const mustBeOpen = () => {
    if (isClosed) throw new Error(`the wallet ${id} is closed`)
  }
  const open = (context: string, sealed: string) => {
    mustBeOpen()
    const bytes = unseal(key, context, sealed)
    try {
      return fromUtf8(bytes)
    } finally {
      bytes.fill(0)
    }
  }
  const derivation = createDerivation(seed)
  const writer = new Writer(db, {
    sync: () => flushLog(path),
    async before(tx) {
      await pruneLogs(tx, env.config.EVENT_RETENTION)
      await probe('commit:before', { walletId: id })
    },
    after(tx) {
      const changes = changesOf(tx)
      if (changes) env.onCommit(id, changes)
    },
  })
  return {
    id,
    db,
    env,
    deriveKey(path) {
      mustBeOpen()
      const name = `${path.didIndex}/${path.usage}/${path.keyIndex}`
      return kept(derived, name, keptKeys, () => derivation.key(path))
    },
    seal(context, text) {
      mustBeOpen()
      return seal(key, context, text)
    },
    unseal: open,
    opened(context, sealed, read) {
      mustBeOpen()
      // The row may have been written anew.
      if (opened.get(context)?.sealed !== sealed) opened.delete(context)
      return kept(opened, context, keptTexts, () => ({ sealed, content: read(open(context, sealed)) }))
        .content as ReturnType<typeof read>
    },
    async transaction(write, options) {
      const result = await env.writeBarrier.write(id, () =>
        writer.write((tx) => {
          if (isSuspended) throw walletTransferred(id)
          return write(tx)
        }, options),
      )
      await probe('commit:after', { walletId: id })
      return result
    },
    flush: () => writer.flush(),
    isSuspended: () => isSuspended,
    async suspend() {
      await writer.flush()
      isSuspended = true
      // Writes run one at a time, so this one ends after those under way.
      await env.writeBarrier.write(id, () => db.transaction().execute(() => Promise.resolve()))
    },
    resume: () => void (isSuspended = false),
    async close() {
      await db.destroy()
      isClosed = true
      for (const secret of [key, seed]) secret.fill(0)
      derivation.forget()
      // These are texts, which nothing can erase.
      derived.clear()
      opened.clear()
    },
  }
}

/** What a map has, or is given: of more than `most`, what was given first goes. */
function kept<T extends {}>(map: Map<string, T>, name: string, most: number, make: () => T): T {
  const known = map.get(name)
  if (known !== undefined) return known
  const made = make()
  if (map.size >= most) map.delete(map.keys().next().value!)
  map.set(name, made)
  return made
}

function seedContext(id: string): string {
  return `seed:${id}`
}

/** Makes the handle of an open wallet; `note` is told of each thread, also where the transaction then fails. */
export function forRequest(wallet: Wallet, log: Log, note: (thid: string) => void): Wallet {
  return {
    ...wallet,
    env: { ...wallet.env, log },
    transaction: (write, options) => wallet.transaction((tx) => watchThreads(tx, note, write), options),
  }
}
