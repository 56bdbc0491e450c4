/**
 * Copies of all databases of a data folder as they are at one instant, while everything runs.
 *
 * At the instant no write to a wallet is under way, so that what one wallet has sent to another here, and struck out, the other one has. The
 * databases that all wallets share are held in that moment; each wallet's file is held before it is written to again, or copied in its turn.
 * Copied one after the other, a message that went from a wallet copied late to one copied early would be in neither.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../base/problem.ts'
import { openAgentDbToRead } from '../storage/database.ts'
import { diskFull } from '../storage/file-errors.ts'
import type { WriteBarrier } from '../wallet/write-barrier.ts'
import { isLarge, startCopier, type Copied, type Copier, type Task } from './copier.ts'
import { syncFile } from './atomic-folder.ts'
import { BackupFile, type BackupList } from './manifest.ts'
import PQueue from 'p-queue'

/** What was copied, and how long no wallet could be written to. */
export type Snapshot = Pick<BackupList, 'files' | 'missing' | 'instant'> & { heldMs: number }

/** What is copied: the databases in a folder, and those of wallets in the folder `wallets` in it. */
export type Source = {
  dataDir: string
  writeBarrier: WriteBarrier
  /** Whether a wallet's file is open. One that is not is opened by way of the writeBarrier only. */
  isOpen: (walletId: string) => boolean
}

/** Wallets whose copies are made, or flushed to the disk, at a time. */
const atOnce = 4

/**
 * Copies all databases into `target`, where there is a folder `wallets` too. They are on the disk when it resolves. When `signal` is aborted it ends, and no wallet waits for it.
 *
 * @throws {Problem} `InsufficientStorage`, `FileUnreadable` for a file that all wallets share, `ServiceUnavailable`.
 */
export async function takeSnapshot(
  { dataDir, writeBarrier, isOpen }: Source,
  target: string,
  signal: AbortSignal,
): Promise<Snapshot> {
  const paths = sharedPaths(dataDir)
  const taskOf = (path: string, isOpen: boolean) => ({
    from: join(dataDir, path),
    to: join(target, path),
    isOpen,
  })
  const turn = paths.map((path) => taskOf(path, true))
  const copier = await startCopier()
  const shared = (await isLarge(turn.map(({ from }) => from))) ? await startCopier() : copier
  const wallets = createWalletCopies(copier, (id) => taskOf(walletPath(id), isOpen(id)))
  const stop = async () => {
    writeBarrier.release()
    await Promise.all([shared.close(), wallets.close()])
  }
  const onAbort = () => void stop()
  signal.addEventListener('abort', onAbort)
  try {
    signal.throwIfAborted()
    let copying: Promise<Copied[]> | undefined
    const holdShared = async () => {
      const instant = new Date().toISOString()
      await new Promise<void>((resolve, reject) => {
        copying = shared.copy(turn, resolve)
        copying.catch(reject)
      })
      return instant
    }
    const before = performance.now()
    const instant = await writeBarrier.pause(holdShared, (id) => wallets.hold(id))
    const heldMs = performance.now() - before
    const files: BackupFile[] = []
    for (const [index, copied] of (await copying!).entries())
      files.push(await toFile(target, paths[index]!, copied, signal))
    const missing: Snapshot['missing'] = []
    await copyWallets(await readIds(target), wallets, async (walletId, copied) => {
      if (copied.fault === 'damaged') missing.push({ walletId, reason: copied.reason })
      else files.push(await toFile(target, walletPath(walletId), copied, signal))
    })
    await stop()
    // Of wallets that came later, or are damaged.
    const known = new Set(files.map(({ path }) => path))
    for (const name of readdirSync(join(target, 'wallets')))
      if (!known.has(`wallets/${name}`)) rmSync(join(target, 'wallets', name))
    const byPath = (a: BackupFile, b: BackupFile) => (a.path < b.path ? -1 : 1)
    return { instant, files: files.toSorted(byPath), missing, heldMs }
  } finally {
    signal.removeEventListener('abort', onAbort)
    await stop()
  }
}

/** As it stands in a list, on every system. */
export function walletPath(walletId: string): string {
  return `wallets/${walletId}.db`
}

/** The databases that all wallets share. What is done in `agent.db` may be told of in the others, so that it is held last. */
function sharedPaths(dataDir: string): string[] {
  const names = readdirSync(dataDir).filter(
    (name) => name.endsWith('.db') && name !== 'agent.db' && isListable(name),
  )
  return [...names, 'agent.db']
}

/** What somebody else has put into the folder is not the agent's. */
function isListable(name: string): boolean {
  return BackupFile.shape.path.safeParse(name).success
}

/** The wallets that a copy of `agent.db` knows. */
export async function readIds(folder: string): Promise<string[]> {
  await using db = openAgentDbToRead(join(folder, 'agent.db'))
  return (await db.selectFrom('wallet').select('id').execute()).map(({ id }) => id)
}

async function copyWallets(
  ids: readonly string[],
  wallets: WalletCopies,
  take: (walletId: string, copied: Copied) => Promise<void>,
): Promise<void> {
  const left = ids.values()
  const goOn = async () => {
    for (const id of left) await take(id, await wallets.copy(id))
  }
  await Promise.all(Array.from({ length: atOnce }, goOn))
}

async function toFile(
  target: string,
  path: string,
  copied: Copied,
  signal: AbortSignal,
): Promise<BackupFile> {
  signal.throwIfAborted()
  if (copied.fault === undefined) {
    await syncFile(join(target, path))
    const { bytes, sha256, schema } = copied
    return { path, bytes, sha256, schema }
  }
  if (copied.fault === 'full') throw diskFull(new Error(copied.reason))
  if (copied.fault === 'damaged')
    throw new Problem('error:BackupError:FileUnreadable', `${copied.reason}. No backup was made.`)
  throw new Error(copied.reason)
}

/** Large files that are copied at a time. A wallet with another one waits when it is written to meanwhile. */
const largeAtOnce = 4

export type WalletCopies = {
  /** Resolves when a wallet may be written to: its file is held, or will not be copied. Never rejects. */
  hold(walletId: string): Promise<void>
  /** The copy of a wallet's file, begun if it is not yet. @throws when the threads have ended. */
  copy(walletId: string): Promise<Copied>
  /** The wallets of which there is a copy, or a part of one. */
  begun(): Iterable<string>
  /** Ends what is under way; nobody waits any more. */
  close(): Promise<void>
}

/** `small` copies all files but large ones; `taskOf` says where a wallet's file is, and where its copy is to be. */
export function createWalletCopies(small: Copier, taskOf: (walletId: string) => Task): WalletCopies {
  const begun = new Map<string, { held: Promise<void>; copied: Promise<Copied> }>()
  const copiers = new Set<Copier>([small])
  const large = new PQueue({ concurrency: largeAtOnce })
  let isClosed = false
  let onClose = () => {}
  const closing = new Promise<void>((resolve) => (onClose = resolve))

  async function copyBeside(task: Task, onHeld: () => void): Promise<Copied[]> {
    const copier = await startCopier()
    copiers.add(copier)
    try {
      // It may have been too late to be ended with the others.
      if (isClosed) throw new Error('the backup was ended')
      return await copier.copy([task], onHeld)
    } finally {
      copiers.delete(copier)
      await copier.close()
    }
  }

  async function copy(walletId: string, onHeld: () => void): Promise<Copied> {
    const isBeside = await isLarge([taskOf(walletId).from])
    // A wallet that is not open stays so until its file is held.
    const [copied] = isBeside
      ? await large.add(() => copyBeside(taskOf(walletId), onHeld))
      : await small.copy([taskOf(walletId)], onHeld)
    return copied!
  }

  function begin(walletId: string) {
    const known = begun.get(walletId)
    if (known) return known
    let onHeld = () => {}
    const isHeld = new Promise<void>((resolve) => (onHeld = resolve))
    const copied = copy(walletId, onHeld)
    const ended = copied.then(
      () => undefined,
      () => undefined,
    )
    const made = { held: Promise.race([isHeld, ended, closing]), copied }
    begun.set(walletId, made)
    return made
  }

  return {
    hold: async (walletId) => {
      if (!isClosed) await begin(walletId).held
    },
    copy: (walletId) => begin(walletId).copied,
    begun: () => begun.keys(),
    close: async () => {
      isClosed = true
      onClose()
      large.clear()
      await Promise.all([...copiers].map((copier) => copier.close()))
    },
  }
}
