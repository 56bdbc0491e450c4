/** The data folder: is it there, may the agent write to it, and may nobody else? */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, rm, stat, writeFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from './check.ts'
import { systemReason } from '../base/reason.ts'

/** Writes a file into the folder and removes it, and looks at the rights of what is in it. */
export async function checkDataFolder(folder: string): Promise<Finding> {
  const unusable = (path: string, what: string, error: unknown): Finding => {
    const { code } = error as NodeJS.ErrnoException
    // Of a full disk and one that is read only the code says enough.
    const hint =
      code === 'EACCES' || code === 'EPERM'
        ? `sudo chown -R "$USER" ${folder}`
        : `ls -ld ${folder}; df -h ${folder}`
    return { status: 'failed', detail: `${path} cannot be ${what}: ${systemReason(error)}.`, hint }
  }
  const probe = join(folder, `doctor-${randomUUID()}`)
  try {
    await writeFile(probe, 'written by agent doctor', { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    return unusable(folder, 'written to', error)
  } finally {
    await rm(probe, { force: true }).catch(() => undefined)
  }
  for (const path of [join(folder, 'wallets'), join(folder, 'agent.db')]) {
    try {
      await access(path, constants.R_OK | constants.W_OK)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return unusable(path, 'read and written', error)
    }
  }
  // Windows has no such modes.
  const isOpen = process.platform !== 'win32' && ((await stat(folder)).mode & 0o077) !== 0
  if (!isOpen) return { status: 'ok', detail: `${folder} can be written, and nobody else gets in.` }
  return {
    status: 'failed',
    detail: `${folder} holds keys and credentials, and others get in.`,
    hint: `chmod 700 ${folder}`,
  }
}

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
