/**
 * Imports a wallet: decrypts its file into the transit folder and checks it. The store registers the wallet
 * and adopts the file in one step (`WalletStore.adopt`). After a crash before that step the agent does not
 * have the wallet, and after it the whole one.
 */
import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fromBase64 } from '../../foundation/bytes.ts'
import { across } from '../../foundation/probe.ts'
import type { Secret } from '../../foundation/secret.ts'
import { DamagedFileError, NewerFileError, toStorageError } from '../../foundation/storage/file-errors.ts'
import {
  assertWalletTables,
  openExistingWalletDb,
  type AgentDb,
  type AgentTx,
} from '../../foundation/storage/database.ts'
import { removeDatabase } from '../../foundation/storage/files.ts'
import { findDamage } from '../../foundation/storage/inspection.ts'
import { toWalletDetail, type WalletDetail } from '../../wallet/model.ts'
import { nextWalletNumber } from '../../wallet/registry.ts'
import { openChunks, openEnvelope } from './envelope.ts'
import { readContents, createReader } from './contents.ts'
import type { TransferContext } from './wallet-transfer.ts'
import { damaged, newer } from './problems.ts'
import { readTokens, writeTokens, writeRegistryRows, type Token, type RegistryRow } from './registry-rows.ts'
import { isLarge, startCopier } from '../backup/copier.ts'
import { Problem } from '../../foundation/problem.ts'
import { seedDigestOf, wrapWalletKey, readSeed, resealSeed } from '../../wallet/wallet-file.ts'

export type ImportOptions = { passphrase: Secret; id?: string | undefined; name?: string | undefined }

/**
 * Imports a wallet, with another id or name if one is given.
 *
 * @throws {Problem} `NotAnExport`, `NewerExport`, `WrongPassphrase`, `DamagedExport`, `BelongsToAnother`,
 * `DuplicatedWalletId`, `DuplicatedWalletSeed`, `InsufficientStorage`. Nothing is changed then.
 */
export async function importWallet(
  context: TransferContext,
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<WalletDetail> {
  const arrived = context.newName()
  const staged = join(context.wallets.folder.transit, arrived)
  const file = createReader(source)
  try {
    const chunkKey = await openEnvelope(file, options.passphrase)
    const plain = createReader(openChunks(chunkKey, file))
    const { about, registryRows } = await readContents(plain)
    await across('import-file', { walletId: about.id }, () => writeFile(plain.rest(), staged))
    chunkKey.key.fill(0)
    const { id = about.id, name = about.name } = options
    const key = fromBase64(about.key)
    const { seed, tokens } = await prepare(staged, { from: about.id, to: id, key })
    const wallet = { id, name, createdAt: about.createdAt, key, seed, path: staged }
    return await register(context, wallet, { registryRows, tokens }).finally(() =>
      [key, seed].forEach((secret) => secret.fill(0)),
    )
  } catch (error) {
    if (error instanceof NewerFileError) throw newer('an unknown database schema')
    if (error instanceof DamagedFileError)
      throw damaged('its database is damaged, or is not a wallet', { cause: error })
    throw error
  } finally {
    await file.close()
    await finishImport(context, arrived)
  }
}

async function writeFile(bytes: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  try {
    await pipeline(
      Readable.from(bytes, { objectMode: false }),
      createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
    )
  } catch (error) {
    throw toStorageError(error, path)
  }
}

/**
 * Checks the file of a wallet, migrates it, changes its id to `to`, and reads its seed and tokens.
 *
 * @throws {DamagedFileError}, {NewerFileError}
 */
async function prepare(
  path: string,
  { from, to, key }: { from: string; to: string; key: Uint8Array },
): Promise<{ seed: Uint8Array; tokens: Token[] }> {
  if ((await stat(path)).size === 0) throw new DamagedFileError(path, 'is empty')
  await checkIntegrity(path)
  const db = await openExistingWalletDb(path)
  try {
    await assertWalletTables(db, path)
    const seed = await readSeed(db, from, path, key)
    if (to !== from) await resealSeed(db, to, key, seed)
    return { seed, tokens: await readTokens(db) }
  } finally {
    await db.destroy()
  }
}

/**
 * Checks a whole file with SQLite's `integrity_check`; a large one in a worker thread.
 *
 * @throws {DamagedFileError}
 */
async function checkIntegrity(path: string): Promise<void> {
  const reason = (await isLarge([path])) ? await findDamageInThread(path) : findDamage(path)
  if (reason !== undefined) throw new DamagedFileError(path, `is damaged: ${reason}`)
}

async function findDamageInThread(path: string): Promise<string | undefined> {
  const copier = await startCopier()
  try {
    const [looked] = await copier.copy([{ from: path, to: path, isOpen: false }], () => undefined)
    return looked!.fault === undefined ? undefined : looked!.reason
  } finally {
    await copier.close()
  }
}

/** `path` is that of the wallet's file in `wallets.folder.transit`. */
type ImportedWallet = {
  id: string
  name: string
  createdAt: string
  key: Uint8Array
  seed: Uint8Array
  path: string
}

/**
 * Registers a wallet with its contents. A suspended wallet with the same id and seed is the same one, and is
 * replaced.
 *
 * @throws {Problem} `DuplicatedWalletId`, `DuplicatedWalletSeed`, `BelongsToAnother`, `DamagedExport`,
 * `Conflict`
 */
async function register(
  { db, agentKey, wallets, tokens: walletTokens, wake }: TransferContext,
  { id, path, seed, ...wallet }: ImportedWallet,
  { registryRows, tokens }: Pick<WalletRow, 'registryRows' | 'tokens'>,
): Promise<WalletDetail> {
  const seedDigest = seedDigestOf(agentKey, seed)
  const wrappedKey = wrapWalletKey(agentKey, id, wallet.key)
  const row = { ...wallet, id, seedDigest, wrappedKey, registryRows, tokens }
  if (tokens.length > 0) walletTokens.expectAliases()
  const registered = await wallets.serializeCreation(async () => {
    // An active wallet is not closed.
    await isSuspendedHere(db, id, seedDigest)
    // Behind the write barrier, so that no backup runs in between.
    return wallets.withClosedFile(id, () =>
      wallets.store.adopt(db, id, path, (tx, arrived) => writeRow(tx, row, arrived)),
    )
  })
  wake(id)
  return registered
}

type WalletRow = Pick<ImportedWallet, 'id' | 'name' | 'createdAt'> & {
  seedDigest: string
  wrappedKey: string
  registryRows: readonly RegistryRow[]
  tokens: readonly Token[]
}

async function writeRow(
  tx: AgentTx,
  { id, name, createdAt, seedDigest, wrappedKey, registryRows, tokens }: WalletRow,
  arrived: string | null,
): Promise<WalletDetail> {
  const now = new Date().toISOString()
  const row = {
    id,
    name,
    seed_digest: seedDigest,
    wrapped_key: wrappedKey,
    moved_at: null,
    arrived,
    updated_at: now,
  }
  const written = (await isSuspendedHere(tx, id, seedDigest))
    ? tx.updateTable('wallet').set(row).where('id', '=', id)
    : tx.insertInto('wallet').values({ ...row, created_at: createdAt, number: nextWalletNumber })
  const wallet = await written.returningAll().executeTakeFirstOrThrow()
  await writeRegistryRows(tx, id, registryRows)
  await writeTokens(tx, id, tokens)
  return toWalletDetail(wallet)
}

/**
 * Whether the wallet is suspended here.
 *
 * @throws {Problem} when it is active here, or another wallet has its id.
 */
async function isSuspendedHere(db: AgentDb, id: string, seedDigest: string): Promise<boolean> {
  const rows = await db
    .selectFrom('wallet')
    .select(['id', 'seed_digest', 'moved_at'])
    .where((eb) => eb.or([eb('id', '=', id), eb('seed_digest', '=', seedDigest)]))
    .execute()
  const twin = rows.find(({ seed_digest }) => seed_digest === seedDigest)
  if (twin && (twin.id !== id || twin.moved_at === null)) {
    const hint =
      twin.moved_at === null
        ? ''
        : `, suspended since it was exported. Import it with that id, or resume it: agent wallet resume ${twin.id}`
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletSeed',
      `This agent has the wallet already: ${twin.id} has the same seed${hint}. Nothing was changed.`,
    )
  }
  if (!twin && rows.length > 0)
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletId',
      `Another wallet of this agent has the id ${id}. Import with another id: connections keep working. Nothing was changed.`,
    )
  return twin !== undefined
}

/** Installs an imported file if its wallet is registered, and deletes it if not. */
export async function finishImport(
  { db, wallets }: Pick<TransferContext, 'db' | 'wallets'>,
  name: string,
): Promise<void> {
  const row = await db.selectFrom('wallet').select('id').where('arrived', '=', name).executeTakeFirst()
  if (row) wallets.folder.install(row.id, name)
  else removeDatabase(join(wallets.folder.transit, name))
}
