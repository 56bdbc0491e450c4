/** Looks at processes from outside (Linux): their reads and writes, and whether they have work. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The system calls of all threads that read and write files, pipes, sockets and wake-ups of threads. */
export type Io = { reads: number; writes: number }

/** https://www.kernel.org/doc/html/latest/filesystems/proc.html, `/proc/<pid>/io` */
export function readIo(pid: number): Io {
  const text = readFileSync(`/proc/${pid}/io`, 'utf8')
  const of = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)![1])
  return { reads: of('syscr'), writes: of('syscw') }
}

/** Whether all threads sleep: none runs, waits for a core or for the disk. */
function isSleeping(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    try {
      return /\) S /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'))
    } catch {
      // The thread has ended meanwhile.
      return true
    }
  })
}

/** Writes that can wait do so for 50 ms (`src/foundation/storage/writer.ts`). */
const [looks, intervalMs] = [5, 15]

/** Waits until processes have read and written nothing for 75 ms, and sleep whenever they are looked at. */
export async function untilIdle(pids: readonly number[]): Promise<void> {
  let last = ''
  for (let same = 0; same < looks; await sleep(intervalMs)) {
    const now = pids.map((pid) => `${isSleeping(pid)} ${Object.values(readIo(pid)).join(' ')}`).join()
    same = now === last && !now.includes('false') ? same + 1 : 0
    last = now
  }
}
