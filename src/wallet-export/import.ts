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
import { DamagedFileError } from '../storage/damaged-file-error.ts'
import { openKnownWalletDb } from '../storage/database.ts'
import { translate } from '../storage/fault.ts'
import { NewerFileError } from '../storage/newer-file-error.ts'
import { mustHaveOwnTables } from '../storage/own-tables.ts'
import type { WalletDetail } from '../wallet/model.ts'
import { readSeed, resealSeed } from '../wallet/wallet.ts'
import { adopt } from './adopt.ts'
import { openChunks } from './chunks.ts'
import { readContents } from './contents.ts'
import { openEnvelope } from './envelope.ts'
import { lookThrough } from './look-through.ts'
import type { Parts } from './portable.ts'
import { createReader } from './reader.ts'
import { damaged, newer } from './refusals.ts'
import { settle } from './settle.ts'
import { tokensOf, type Token } from './tokens.ts'

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
  const staged = join(own.wallets.transit, arrived)
  const file = createReader(source)
  try {
    const chunkKey = await openEnvelope(file, options.passphrase)
    const plain = createReader(openChunks(chunkKey, file))
    const { about, belongings } = await readContents(plain)
    await across('import-file', { walletId: about.id }, () => write(plain.rest(), staged))
    chunkKey.key.fill(0)
    const { id = about.id, name = about.name } = options
    const key = fromBase64(about.key)
    const { seed, tokens } = await examine(staged, { from: about.id, to: id, key })
    const wallet = { id, name, createdAt: about.createdAt, key, seed, arrived }
    return await adopt(own, wallet, { belongings, tokens }).finally(() =>
      [key, seed].forEach((secret) => secret.fill(0)),
    )
  } finally {
    await file.close()
    await settle(own, arrived)
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
    throw translate(error, path)
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
    const { db } = await openKnownWalletDb(path)
    try {
      await mustHaveOwnTables(db, path)
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
