/** Worker threads that copy databases: reading, hashing and syncing large files would block the event loop. */
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import { programOf } from '../../foundation/program.ts'

/** A file to copy, and whether it is open. If `to` equals `from`, the file is only checked. */
export type CopyTask = { from: string; to: string; isOpen: boolean }

/** The request to the thread: all files get a snapshot before the first is copied. */
export type CopyRequest = { files: readonly CopyTask[] }

/** The result for one file. `damaged`: the file is damaged or missing. `full`: the disk of the copy is full. */
export type CopyResult =
  | { bytes: number; sha256: string; schema: string; fault?: never }
  | { fault: 'damaged' | 'full' | 'other'; reason: string }

export type CopyMessage =
  { event: 'ready' } | { event: 'snapshots taken' } | { event: 'copied'; results: CopyResult[] }

export type Copier = {
  /**
   * Copies files, after those of earlier calls. Calls `onSnapshot` when the snapshots of all files are taken.
   *
   * @throws when the thread has ended.
   */
  copy(files: CopyRequest['files'], onSnapshot: () => void): Promise<CopyResult[]>
  close(): Promise<void>
}

/** Larger files get a thread of their own, so that smaller ones do not wait for them. */
const largeBytes = 8 * 1_024 * 1_024

/** Whether the databases at these paths, with their logs, need a thread of their own. */
export async function isLarge(paths: readonly string[]): Promise<boolean> {
  const files = paths.flatMap((path) => [path, `${path}-wal`])
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(file).catch(() => ({ size: 0 }))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0) > largeBytes
}

const program = programOf(import.meta.url, 'copy-worker')

/** Starts a thread and waits until it is ready. */
export async function startCopier(): Promise<Copier> {
  const thread = new Worker(program.code, { name: 'backup', env: {}, eval: program.isSource })
  const requests = new PQueue({ concurrency: 1 })
  let fail: (error: Error) => void = () => {}
  const ended = new Promise<never>((_, reject) => (fail = reject))
  // Without a copy under way, nothing handles the rejection.
  ended.catch(() => undefined)
  await once(thread, 'message')
  thread.on('error', fail)
  thread.on('exit', () => fail(new Error('the copy thread has ended')))

  async function run(files: CopyRequest['files'], onSnapshot: () => void): Promise<CopyResult[]> {
    const copied = new Promise<CopyResult[]>((resolve) => {
      const onMessage = (message: CopyMessage) => {
        if (message.event === 'snapshots taken') onSnapshot()
        if (message.event !== 'copied') return
        thread.off('message', onMessage)
        resolve(message.results)
      }
      thread.on('message', onMessage)
    })
    thread.postMessage({ files } satisfies CopyRequest)
    return Promise.race([copied, ended])
  }

  return {
    copy: (files, onSnapshot) => requests.add(() => run(files, onSnapshot)),
    close: async () => void (await thread.terminate()),
  }
}
