/** The export of a wallet: a copy of its file as it is at one instant, and the bytes that are made of it. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { toBase64url } from '../base/bytes.ts'
import { across } from '../base/probe.ts'
import type { Secret } from '../base/secret.ts'
import { DamagedFileError } from '../storage/file-errors.ts'
import { copyClosed, hasNoLog, openSnapshot } from '../storage/snapshot.ts'
import { unreadable, unwrapWalletKey } from '../wallet/wallet-file.ts'
import { readRegistryRows } from './registry-rows.ts'
import { sealChunks, newEnvelope } from './envelope.ts'
import { writeContents, createReader, type Contents } from './contents.ts'
import type { Parts } from './wallet-transfer.ts'

export type ExportOptions = { passphrase: Secret; isMoving?: boolean | undefined }

/**
 * Exports a wallet while it is used. `isMoving` has it rest here first, so that nothing happens here that is not in the export; it may be
 * said again, and of a wallet that rests already.
 *
 * The stream is to be read or destroyed: with it goes the copy of the file.
 *
 * @throws {Problem} `WalletNotFound`, `WalletUnreadable`, `InsufficientStorage`
 */
export async function exportWallet(
  own: Parts,
  id: string,
  { passphrase, isMoving = false }: ExportOptions,
): Promise<Readable> {
  const { wallets } = own
  const staged = join(wallets.transitFolder, own.newName())
  const drop = () => rm(staged, { force: true })
  try {
    const isSuspended = (await wallets.find(id))?.movedAt !== undefined
    // Whoever has it open keeps SQLite from putting its log away meanwhile.
    if (!isSuspended && !isMoving) await wallets.use(id, () => copy(own, id, staged))
    else {
      // Whether it can be read at all comes before it rests.
      if (!isSuspended) await wallets.use(id, () => wallets.suspend(id))
      await copy(own, id, staged)
    }
    // After the file: what is in it is in these.
    const contents = await readRows(own, id)
    const { lines, chunkKey } = await newEnvelope(passphrase)
    const stream = Readable.from(
      bytes(lines, sealChunks(chunkKey, createReader(writeContents(contents, staged)))),
      { objectMode: false },
    )
    return stream.once('close', () => {
      chunkKey.key.fill(0)
      drop().catch((error: unknown) =>
        own.log.warn({ err: error }, 'the copy of a wallet that was exported is still there'),
      )
    })
  } catch (error) {
    await drop()
    if (error instanceof DamagedFileError) throw unreadable(id, 'It is missing, or damaged.', error)
    throw error
  }
}

/** Copies the file of a wallet as it is at one instant. @throws {DamagedFileError}, {Problem} `InsufficientStorage` */
function copy({ wallets }: Parts, id: string, staged: string): Promise<void> {
  const path = wallets.pathOf(id)
  return across('wallet-copy', { walletId: id }, async () => {
    // To open a file leaves others beside it, so that one that nobody has open stays closed.
    if (!wallets.isOpen(id) && hasNoLog(path))
      return wallets.withClosedFile(id, () => copyClosed(path, staged))
    const pinned = openSnapshot(path)
    await pinned.copyTo(staged).finally(() => pinned.close())
  })
}

async function readRows({ db, agentKey }: Parts, id: string): Promise<Contents> {
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

async function* bytes(lines: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(lines)
  yield* chunks
}
