/**
 * Exports a wallet: a snapshot of its contents as a SQLite file, and its rows of the agent, encrypted with a
 * passphrase.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { toBase64url } from '../../foundation/bytes.ts'
import { across } from '../../foundation/probe.ts'
import type { Secret } from '../../foundation/secret.ts'
import { DamagedFileError } from '../../foundation/storage/file-errors.ts'
import { unreadable, unwrapWalletKey } from '../../wallet/wallet-file.ts'
import type { WhileClosed } from '../../wallet/wallet-store.ts'
import { readRegistryRows } from './registry-rows.ts'
import { sealChunks, newEnvelope } from './envelope.ts'
import { writeContents, createReader, type Contents } from './contents.ts'
import type { TransferContext } from './wallet-transfer.ts'

export type ExportOptions = { passphrase: Secret; isMoving?: boolean | undefined }

/**
 * Exports a wallet while it is used. `isMoving` suspends the wallet first, so that the export contains
 * everything; a suspended wallet can be exported again.
 *
 * Read or destroy the returned stream: that deletes the temporary copy of the file.
 *
 * @throws {Problem} `WalletNotFound`, `WalletUnreadable`, `InsufficientStorage`
 */
export async function exportWallet(
  context: TransferContext,
  id: string,
  { passphrase, isMoving = false }: ExportOptions,
): Promise<Readable> {
  const { wallets } = context
  const staged = join(wallets.folder.transit, context.newName())
  const deleteCopy = () => rm(staged, { force: true })
  try {
    const isSuspended = (await wallets.find(id))?.movedAt !== undefined
    // While the wallet is open, SQLite does not delete its log.
    if (!isSuspended && !isMoving) await wallets.use(id, () => copyContents(context, id, staged))
    else {
      // Open the wallet first, so that an unreadable one is not suspended.
      if (!isSuspended) await wallets.use(id, () => wallets.suspend(id))
      await copyContents(context, id, staged)
    }
    // Read after the file, so that rows that the file refers to are included.
    const contents = await readContents(context, id)
    const { lines, chunkKey } = await newEnvelope(passphrase)
    const stream = Readable.from(
      concat(lines, sealChunks(chunkKey, createReader(writeContents(contents, staged)))),
      { objectMode: false },
    )
    return stream.once('close', () => {
      chunkKey.key.fill(0)
      deleteCopy().catch((error: unknown) =>
        context.log.warn({ err: error }, 'the temporary copy of an exported wallet could not be deleted'),
      )
    })
  } catch (error) {
    await deleteCopy()
    if (error instanceof DamagedFileError) throw unreadable(id, 'It is missing, or damaged.', error)
    throw error
  }
}

/** Copies a snapshot of a wallet to a file. @throws {DamagedFileError}, {Problem} `InsufficientStorage` */
function copyContents({ wallets }: TransferContext, id: string, staged: string): Promise<void> {
  const whileClosed: WhileClosed = (work) => wallets.withClosedFile(id, work)
  return across('wallet-copy', { walletId: id }, () =>
    wallets.store.copyTo(id, staged, wallets.isOpen(id) ? undefined : whileClosed),
  )
}

async function readContents({ db, agentKey }: TransferContext, id: string): Promise<Contents> {
  const row = await db.selectFrom('wallet').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const key = unwrapWalletKey(agentKey, id, row.wrapped_key)
  const about = {
    kind: 'wallet' as const,
    id,
    name: row.name,
    createdAt: row.created_at,
    key: toBase64url(key),
  }
  key.fill(0)
  return { about, registryRows: await readRegistryRows(db, id) }
}

async function* concat(lines: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(lines)
  yield* chunks
}
