/**
 * Folders that are there whole or not at all: made under another name beside it, flushed to the disk, then given their name.
 *
 * What a crash leaves is the folder with the other name, which ends in `.part`, and which nothing looks into.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { across } from '../base/probe.ts'
import { flushFolder } from '../base/private-files.ts'

/**
 * Begins a folder, 0700, that is to have a path, in which `sub` is made too. The returned path is the one that it has meanwhile.
 *
 * @throws as `node:fs` does; `EEXIST` when there is something at the path other than an empty folder.
 */
export function beginFolder(path: string, sub: string): string {
  if (existsSync(path) && readdirSync(path).length > 0)
    throw Object.assign(new Error(`${path} is not empty`), { code: 'EEXIST' })
  const part = `${path}.${randomBytes(4).toString('hex')}.part`
  mkdirSync(part, { mode: 0o700 })
  mkdirSync(join(part, sub), { mode: 0o700 })
  return part
}

/** Gives a folder, all files in which are on the disk, its name. @throws as `node:fs` does. */
export async function finishFolder(part: string, path: string, sub: string): Promise<void> {
  await flushFolder(join(part, sub))
  await flushFolder(part)
  await across('backup-name', {}, () => rename(part, path))
  await flushFolder(dirname(path))
}

/** Takes away what was begun. */
export async function dropFolder(part: string): Promise<void> {
  await rm(part, { recursive: true, force: true })
}

/** Has a file's content on the disk when it resolves. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
