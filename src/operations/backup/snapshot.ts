/**
 * Copies all databases of a data folder as they are at one instant, while the agent runs.
 *
 * Copies at different times would lose messages between two wallets of the agent: the sender's copy has
 * deleted the job already, the recipient's does not have the message yet. So writes pause for an instant, in
 * which the shared databases get their snapshot. Each wallet gets its snapshot before its next write, or when
 * it is copied.
 */
import { readdirSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../../foundation/problem.ts'
import { openAgentDbToRead } from '../../foundation/storage/database.ts'
import { diskFull } from '../../foundation/storage/file-errors.ts'
import type { WriteBarrier } from '../../wallet/write-barrier.ts'
import { isLarge, startCopier, type CopyResult, type Copier, type CopyTask } from './copier.ts'
import { syncFile } from './atomic-folder.ts'
import { BackupFile, type BackupManifest } from './manifest.ts'
import PQueue from 'p-queue'

/** The copied files, and for how long writes were paused. */
export type Snapshot = Pick<BackupManifest, 'files' | 'missing' | 'instant'> & { heldMs: number }

/** Where the databases of a backup are. */
export type BackupSource = {
  /** The bytes of a backup, about. */
  estimateBytes(): Promise<number>
  /**
   * Copies and syncs all databases into `target`, which has a folder `wallets`. An abort of `signal` ends the
   * copies and the wait for them.
   *
   * @throws {Problem} `InsufficientStorage`, `FileUnreadable` for a shared file, `ServiceUnavailable`.
   */
  takeSnapshot(target: string, signal: AbortSignal): Promise<Snapshot>
}

type DataFolder = {
  dataDir: string
  writeBarrier: WriteBarrier
  /** Whether the file of a wallet is open. A closed one is opened behind the write barrier only. */
  isOpen: (walletId: string) => boolean
}

const walletsAtOnce = 4

export function createFolderSource(folder: DataFolder): BackupSource {
  return {
    estimateBytes: () => measure(folder.dataDir),
    takeSnapshot: (target, signal) => takeSnapshot(folder, target, signal),
  }
}

/** The bytes of all databases with their logs. */
async function measure(dataDir: string): Promise<number> {
  const paths = [dataDir, join(dataDir, 'wallets')].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  )
  const sizes = await Promise.all(
    paths.filter((path) => /\.db(?:-wal)?$/.test(path)).map((path) => stat(path).catch(() => ({ size: 0 }))),
  )
  return sizes.reduce((sum, { size }) => sum + size, 0)
}

async function takeSnapshot(
  { dataDir, writeBarrier, isOpen }: DataFolder,
  target: string,
  signal: AbortSignal,
): Promise<Snapshot> {
  const paths = sharedPaths(dataDir)
  const taskOf = (path: string, isOpen: boolean) => ({
    from: join(dataDir, path),
    to: join(target, path),
    isOpen,
  })
  const sharedTasks = paths.map((path) => taskOf(path, true))
  const copier = await startCopier()
  const shared = (await isLarge(sharedTasks.map(({ from }) => from))) ? await startCopier() : copier
  const wallets = createWalletCopies(copier, (id) => taskOf(walletPath(id), isOpen(id)))
  const stop = async () => {
    writeBarrier.release()
    await Promise.all([shared.close(), wallets.close()])
  }
  const onAbort = () => void stop()
  signal.addEventListener('abort', onAbort)
  try {
    signal.throwIfAborted()
    let copying: Promise<CopyResult[]> | undefined
    const snapshotShared = async () => {
      const instant = new Date().toISOString()
      await new Promise<void>((resolve, reject) => {
        copying = shared.copy(sharedTasks, resolve)
        copying.catch(reject)
      })
      return instant
    }
    const before = performance.now()
    const instant = await writeBarrier.pause(snapshotShared, (id) => wallets.takeSnapshot(id))
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
    // Remove copies of wallets that were created after the instant, or are damaged.
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

/** The path in a manifest, on every operating system. */
export function walletPath(walletId: string): string {
  return `wallets/${walletId}.db`
}

/**
 * The shared databases. agent.db gets its snapshot last: the others may already describe a change in it, such
 * as the audit log.
 */
function sharedPaths(dataDir: string): string[] {
  const names = readdirSync(dataDir).filter(
    (name) => name.endsWith('.db') && name !== 'agent.db' && isListable(name),
  )
  return [...names, 'agent.db']
}

/** False for files that do not belong to the agent. */
function isListable(name: string): boolean {
  return BackupFile.shape.path.safeParse(name).success
}

export async function readIds(folder: string): Promise<string[]> {
  await using db = openAgentDbToRead(join(folder, 'agent.db'))
  return (await db.selectFrom('wallet').select('id').execute()).map(({ id }) => id)
}

async function copyWallets(
  ids: readonly string[],
  wallets: WalletCopies,
  take: (walletId: string, copied: CopyResult) => Promise<void>,
): Promise<void> {
  const left = ids.values()
  const copyNext = async () => {
    for (const id of left) await take(id, await wallets.copy(id))
  }
  await Promise.all(Array.from({ length: walletsAtOnce }, copyNext))
}

/** A copied file of the backup, which is on the disk when this resolves. @throws {Problem} */
export async function toFile(
  target: string,
  path: string,
  copied: CopyResult,
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

/** Large files that are copied at a time. Writes to other large wallets wait for their turn. */
const largeAtOnce = 4

type WalletCopies = {
  /** Resolves when a wallet may be written to: its snapshot is taken, or it will not be copied. Never rejects. */
  takeSnapshot(walletId: string): Promise<void>
  /** Copies a wallet's file, unless that has begun. @throws when the threads have ended. */
  copy(walletId: string): Promise<CopyResult>
  /** Ends the copies and the waiting writes. */
  close(): Promise<void>
}

/** `small` copies the small files. */
function createWalletCopies(small: Copier, taskOf: (walletId: string) => CopyTask): WalletCopies {
  const begun = new Map<string, { snapshotTaken: Promise<void>; copied: Promise<CopyResult> }>()
  const copiers = new Set<Copier>([small])
  const large = new PQueue({ concurrency: largeAtOnce })
  let isClosed = false
  let onClose = () => {}
  const closing = new Promise<void>((resolve) => (onClose = resolve))

  async function copyLarge(task: CopyTask, onSnapshot: () => void): Promise<CopyResult[]> {
    const copier = await startCopier()
    copiers.add(copier)
    try {
      // `close` may have been called while the thread started.
      if (isClosed) throw new Error('the backup was aborted')
      return await copier.copy([task], onSnapshot)
    } finally {
      copiers.delete(copier)
      await copier.close()
    }
  }

  async function copy(walletId: string, onSnapshot: () => void): Promise<CopyResult> {
    const isLargeFile = await isLarge([taskOf(walletId).from])
    // A closed wallet stays closed until its snapshot is taken.
    const [copied] = isLargeFile
      ? await large.add(() => copyLarge(taskOf(walletId), onSnapshot))
      : await small.copy([taskOf(walletId)], onSnapshot)
    return copied!
  }

  function begin(walletId: string) {
    const known = begun.get(walletId)
    if (known) return known
    let onSnapshot = () => {}
    const taken = new Promise<void>((resolve) => (onSnapshot = resolve))
    const copied = copy(walletId, onSnapshot)
    const ended = copied.then(
      () => undefined,
      () => undefined,
    )
    const made = { snapshotTaken: Promise.race([taken, ended, closing]), copied }
    begun.set(walletId, made)
    return made
  }

  return {
    takeSnapshot: async (walletId) => {
      if (!isClosed) await begin(walletId).snapshotTaken
    },
    copy: (walletId) => begin(walletId).copied,
    close: async () => {
      isClosed = true
      onClose()
      large.clear()
      await Promise.all([...copiers].map((copier) => copier.close()))
    },
  }
}
