/** Checks the data folder and the free space of its disk. */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, rm, stat, writeFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from './check.ts'
import { systemReason } from '../../foundation/system-reason.ts'

/** Checks that the agent can write to the folder and that no other user can read it. */
export async function checkDataFolder(folder: string): Promise<Finding> {
  const unusable = (path: string, what: string, error: unknown): Finding => {
    const { code } = error as NodeJS.ErrnoException
    // A full or read-only disk is clear from the error itself.
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
  if (!isOpen) return { status: 'ok', detail: `${folder} is writable, and only its owner has access.` }
  return {
    status: 'failed',
    detail: `${folder} holds keys and credentials, and other users have access.`,
    hint: `chmod 700 ${folder}`,
  }
}

/** Below these numbers of free bytes the check warns and fails. A full disk stops every transaction. */
const warnBelow = 1_000_000_000
const failBelow = 100_000_000

/** Checks the free space. @throws when the folder does not exist. */
export async function checkDisk(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder)
  return toDiskFinding(folder, bavail * bsize)
}

export function toDiskFinding(folder: string, free: number): Finding {
  const room =
    free < warnBelow ? `${Math.floor(free / 1_000_000)} MB` : `${(free / 1_000_000_000).toFixed(1)} GB`
  const detail = `${room} are free on the disk of ${folder}.`
  const hint = `du -xh ${folder} | sort -h | tail   # shows what uses the space; free some, or move the folder and set AGENT_DATA_DIR`
  if (free < failBelow) return { status: 'failed', detail: `Only ${detail}`, hint }
  return free < warnBelow ? { status: 'warning', detail: `Only ${detail}`, hint } : { status: 'ok', detail }
}
