/** The data folder: can it be written, and is there room? A full disk stops every transaction. */
import { randomUUID } from 'node:crypto'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from './check.ts'

/** Below these many free bytes there is something to do soon, and at once. */
const scarce = 1_000_000_000
const tooLittle = 100_000_000

/** Writes a file into the folder and removes it, and asks how much is free there. */
export async function checkDataFolder(folder: string): Promise<Finding> {
  const probe = join(folder, `doctor-${randomUUID()}`)
  try {
    await writeFile(probe, 'written by agent doctor', { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const hint = 'let the user of the daemon write to the folder, or make room on its disk (AGENT_DATA_DIR)'
    return { status: 'failed', detail: `Nothing can be written to ${folder} (${code}).`, hint }
  } finally {
    await rm(probe, { force: true }).catch(() => undefined)
  }
  const { bavail, bsize } = await statfs(folder)
  return judgeRoom(folder, bavail * bsize)
}

/** What `free` bytes mean for a folder. */
export function judgeRoom(folder: string, free: number): Finding {
  const detail = `${folder} can be written, ${(free / 1_000_000_000).toFixed(1)} GB are free.`
  const hint = 'make room on the disk of AGENT_DATA_DIR'
  if (free < tooLittle) return { status: 'failed', detail, hint }
  return free < scarce ? { status: 'warning', detail, hint } : { status: 'ok', detail }
}
