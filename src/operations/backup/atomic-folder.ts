/**
 * Folders that exist completely or not at all: they are written under a temporary name, synced, then renamed.
 *
 * A crash leaves a folder whose name ends in `.part`. Nothing reads it.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { across } from '../../foundation/probe.ts'
import { flushFolder } from '../../foundation/private-files.ts'

/**
 * Creates the temporary folder (mode 0700) for a path, with a folder `sub` in it. Returns its path.
 *
 * @throws as `node:fs` does; `EEXIST` when the path exists and is not an empty folder.
 */
export function beginFolder(path: string, sub: string): string {
  if (existsSync(path) && readdirSync(path).length > 0)
    throw Object.assign(new Error(`${path} is not empty`), { code: 'EEXIST' })
  const part = `${path}.${randomBytes(4).toString('hex')}.part`
  mkdirSync(part, { mode: 0o700 })
  mkdirSync(join(part, sub), { mode: 0o700 })
  return part
}

/** Renames a temporary folder whose files are synced to its final path. @throws as `node:fs` does. */
export async function finishFolder(part: string, path: string, sub: string): Promise<void> {
  await flushFolder(join(part, sub))
  await flushFolder(part)
  await across('backup-name', {}, () => rename(part, path))
  await flushFolder(dirname(path))
}

export async function discardFolder(part: string): Promise<void> {
  await rm(part, { recursive: true, force: true })
}

export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
