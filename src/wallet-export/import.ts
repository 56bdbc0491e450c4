/**
 * The import of a wallet: the file is taken in and looked through beside the others, then the rows are written that make it known, all of them
 * at once, then the file gets its place. Killed anywhere before the rows are there, the agent has no such wallet; afterwards it has all of
 * it, since the file gets its place at the next start.
 */
import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fromBase64 } from '../base/bytes.ts'
import { across } from '../base/probe.ts'
import type { Secret } from '../base/secret.ts'
import { DamagedFileError, NewerFileError, toStorageError } from '../storage/file-errors.ts'
import { type AgentDb, assertWalletTables, openExistingWalletDb } from '../storage/database.ts'
import { findDamage } from '../storage/inspection.ts'
import { toWalletDetail, type WalletDetail } from '../wallet/model.ts'

import { openChunks, openEnvelope } from './envelope.ts'
import { readContents, createReader } from './contents.ts'
import { removeDatabase } from '../storage/files.ts'
import type { Parts } from './wallet-transfer.ts'
import { damaged, newer } from './problems.ts'
import { tokensOf, writeTokens, writeRegistryRows, type Token, type RegistryRow } from './registry-rows.ts'
import { isLarge, startCopier } from '../backup/copier.ts'
import { Problem } from '../base/problem.ts'
import { seedDigestOf, wrapWalletKey, readSeed, resealSeed } from '../wallet/wallet-file.ts'

export type ImportOptions = { passphrase: Secret; id?: string | undefined; name?: string | undefined }

/**
 * Imports a wallet, under its own id and name if no others are given.
 *
 * @throws {Problem} `NotAnExport`, `NewerExport`, `WrongPassphrase`, `DamagedExport`, `BelongsToAnother`, `DuplicatedWalletId`,
 * `DuplicatedWalletSeed`, `InsufficientStorage`; nothing was changed then.
 */
export async function importWallet(
  own: Parts,
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<WalletDetail> {
  const arrived = own.newName()
  const staged = join(own.wallets.transitFolder, arrived)
  const file = createReader(source)
  try {
    const chunkKey = await openEnvelope(file, options.passphrase)
    const plain = createReader(openChunks(chunkKey, file))
    const { about, registryRows } = await readContents(plain)
    await across('import-file', { walletId: about.id }, () => write(plain.rest(), staged))
    chunkKey.key.fill(0)
    const { id = about.id, name = about.name } = options
    const key = fromBase64(about.key)
    const { seed, tokens } = await examine(staged, { from: about.id, to: id, key })
    const wallet = { id, name, createdAt: about.createdAt, key, seed, arrived }
    return await adopt(own, wallet, { registryRows, tokens }).finally(() =>
      [key, seed].forEach((secret) => secret.fill(0)),
    )
  } finally {
    await file.close()
    await finishImport(own, arrived)
  }
}

/** Writes a file (0600) that is on the disk when this returns. */
async function write(bytes: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  try {
    await pipeline(
      Readable.from(bytes, { objectMode: false }),
      createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
    )
  } catch (error) {
    throw toStorageError(error, path)
  }
}

/** Looks a wallet's file through, has it be of this release and of the id `to`, and reads what finding it takes. */
async function examine(
  path: string,
  { from, to, key }: { from: string; to: string; key: Uint8Array },
): Promise<{ seed: Uint8Array; tokens: Token[] }> {
  try {
    if ((await stat(path)).size === 0) throw new DamagedFileError(path, 'is empty')
    await lookThrough(path)
    const db = await openExistingWalletDb(path)
    try {
      await assertWalletTables(db, path)
      const seed = await readSeed(db, from, path, key)
      if (to !== from) await resealSeed(db, to, key, seed)
      return { seed, tokens: await tokensOf(db) }
    } finally {
      await db.destroy()
    }
  } catch (error) {
    if (error instanceof NewerFileError) throw newer('tables that this one does not know')
    if (error instanceof DamagedFileError)
      throw damaged('the database in it is not a sound one of a wallet', { cause: error })
    throw error
  }
}

/** Checks a whole file with SQLite's `integrity_check`; a large one in a worker thread. @throws {DamagedFileError} */
export async function lookThrough(path: string): Promise<void> {
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

/** `arrived` is the name of its file in `wallets.transitFolder`, whole and closed. */
export type Arrived = {
  id: string
  name: string
  createdAt: string
  key: Uint8Array
  seed: Uint8Array
  arrived: string
}

/**
 * Makes a wallet known, and gives its file its place. A wallet that rests here and has the same id and seed is the same one: what came takes
 * its place.
 *
 * @throws {Problem} `DuplicatedWalletId`, `DuplicatedWalletSeed`, `BelongsToAnother`, `Conflict`
 */
export async function adopt(
  { db, agentKey, wallets, tokens: walletTokens, wake }: Parts,
  { id, name, createdAt, key, seed, arrived }: Arrived,
  { registryRows, tokens }: { registryRows: readonly RegistryRow[]; tokens: readonly Token[] },
): Promise<WalletDetail> {
  const seedDigest = seedDigestOf(agentKey, seed)
  const row = {
    id,
    name,
    seed_digest: seedDigest,
    wrapped_key: wrapWalletKey(agentKey, id, key),
    moved_at: null,
    arrived,
  }
  const makeKnown = (isHere: boolean) =>
    db.transaction().execute(async (tx) => {
      const now = new Date().toISOString()
      const written = isHere
        ? tx
            .updateTable('wallet')
            .set({ ...row, updated_at: now })
            .where('id', '=', id)
        : tx.insertInto('wallet').values({ ...row, created_at: createdAt, updated_at: now })
      const wallet = await written.returningAll().executeTakeFirstOrThrow()
      await writeRegistryRows(tx, id, registryRows)
      await writeTokens(tx, id, tokens)
      return toWalletDetail(wallet)
    })
  if (tokens.length > 0) walletTokens.expectAliases()
  const adopted = await wallets.serializeCreation(async () => {
    const isHere = await mayComeHere(db, id, seedDigest)
    // One after the other, and no backup in between.
    return wallets.withClosedFile(id, async () => {
      const wallet = await across('import-rows', { walletId: id }, () => makeKnown(isHere))
      await across('import-place', { walletId: id }, () => Promise.resolve(wallets.installFile(id, arrived)))
      return wallet
    })
  })
  wake(id)
  return adopted
}

/** Whether the wallet rests here. @throws {Problem} when it is here and works, or another has its id. */
async function mayComeHere(db: AgentDb, id: string, seedDigest: string): Promise<boolean> {
  const rows = await db
    .selectFrom('wallet')
    .select(['id', 'seed_digest', 'moved_at'])
    .where((eb) => eb.or([eb('id', '=', id), eb('seed_digest', '=', seedDigest)]))
    .execute()
  const twin = rows.find(({ seed_digest }) => seed_digest === seedDigest)
  if (twin && (twin.id !== id || twin.moved_at === null)) {
    const rests =
      twin.moved_at === null
        ? ''
        : `, and rests since it was exported. Import it under that id, or have it go on: agent wallet resume ${twin.id}`
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletSeed',
      `This wallet is here already: ${twin.id} has the same seed${rests}. Nothing was changed.`,
    )
  }
  if (!twin && rows.length > 0)
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletId',
      `Another wallet has the id ${id} here. Give the imported one another: its connections go on working. Nothing was changed.`,
    )
  return twin !== undefined
}

/** Installs an imported file if its wallet is registered, and removes it otherwise. */
export async function finishImport(
  { db, wallets }: Pick<Parts, 'db' | 'wallets'>,
  name: string,
): Promise<void> {
  const row = await db.selectFrom('wallet').select('id').where('arrived', '=', name).executeTakeFirst()
  if (row) wallets.installFile(row.id, name)
  else removeDatabase(join(wallets.transitFolder, name))
}
