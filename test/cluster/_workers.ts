/** The worker processes of a daemon. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Daemon } from '../support/daemon.ts'

/** Their process ids. */
export async function workersOf({ pid }: Daemon): Promise<number[]> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(pid)]).catch(() => ({ stdout: '' }))
  return stdout.split('\n').filter(Boolean).map(Number)
}

/** Whether a process runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
