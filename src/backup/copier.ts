/** Threads that copy databases beside everything else: what reads, hashes and flushes a file would have everybody wait. */
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import { programOf } from '../base/program.ts'

/** A file to copy to where nothing is yet, and whether somebody has it open. One that is to be its own copy is looked through only. */
export type Task = { from: string; to: string; isOpen: boolean }

/** Which files are to be held at one time, and copied. */
export type Turn = { files: readonly Task[] }

/** What has become of a file. `damaged` is about the file itself, which may be missing, `full` about the disk of the copy. */
export type Copied =
  | { bytes: number; sha256: string; schema: string; fault?: never }
  | { fault: 'damaged' | 'full' | 'other'; reason: string }

/** What the thread says of a turn. */
export type Told = { is: 'ready' } | { is: 'held' } | { is: 'copied'; copied: Copied[] }

export type Copier = {
  /** Copies files, after those of earlier calls; calls `onHeld` when it sees them as they are from then on. @throws when the thread has ended. */
  copy(files: Turn['files'], onHeld: () => void): Promise<Copied[]>
  /** Ends the thread, whatever it is at. */
  close(): Promise<void>
}

/** What is larger takes its time, and must not have others wait: it is copied in a thread of its own. */
const largeBytes = 8 * 1_024 * 1_024

/** Whether databases, with their logs, are to have a thread of their own. */
export async function isLarge(paths: readonly string[]): Promise<boolean> {
  const files = paths.flatMap((path) => [path, `${path}-wal`])
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(file).catch(() => ({ size: 0 }))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0) > largeBytes
}

const program = programOf(import.meta.url, 'copy-worker')

/** Starts a thread; it is ready when this returns. */
export async function startCopier(): Promise<Copier> {
  const thread = new Worker(program.code, { name: 'backup', env: {}, eval: program.isSource })
  const turns = new PQueue({ concurrency: 1 })
  let end: (error: Error) => void = () => {}
  const ended = new Promise<never>((_, reject) => (end = reject))
  // Whoever waits is told; when nobody does, there is nobody to tell.
  ended.catch(() => undefined)
  await once(thread, 'message')
  thread.on('error', end)
  thread.on('exit', () => end(new Error('the thread that copies files has ended')))

  async function run(files: Turn['files'], onHeld: () => void): Promise<Copied[]> {
    const copied = new Promise<Copied[]>((resolve) => {
      const hear = (told: Told) => {
        if (told.is === 'held') onHeld()
        if (told.is !== 'copied') return
        thread.off('message', hear)
        resolve(told.copied)
      }
      thread.on('message', hear)
    })
    thread.postMessage({ files } satisfies Turn)
    return Promise.race([copied, ended])
  }

  return {
    copy: (files, onHeld) => turns.add(() => run(files, onHeld)),
    close: async () => void (await thread.terminate()),
  }
}
