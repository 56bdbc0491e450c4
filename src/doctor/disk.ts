/** The disk of the data folder: is there room? A full one stops every transaction. */
import { statfs } from 'node:fs/promises'
import type { Finding } from './check.ts'

/** Below these many free bytes there is something to do soon, and at once. */
const scarce = 1_000_000_000
const tooLittle = 100_000_000

/** Asks how much is free on the disk of a folder. @throws when the folder is not there. */
export async function checkDisk(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder)
  return judgeRoom(folder, bavail * bsize)
}

/** What `free` bytes mean for a folder. */
export function judgeRoom(folder: string, free: number): Finding {
  const room =
    free < scarce ? `${Math.floor(free / 1_000_000)} MB` : `${(free / 1_000_000_000).toFixed(1)} GB`
  const detail = `${room} are free on the disk of ${folder}.`
  const hint = `du -xh ${folder} | sort -h | tail   # what takes the room; make some, or name a folder elsewhere in AGENT_DATA_DIR`
  if (free < tooLittle) return { status: 'failed', detail: `Only ${detail}`, hint }
  return free < scarce ? { status: 'warning', detail: `Only ${detail}`, hint } : { status: 'ok', detail }
}
