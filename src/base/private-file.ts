/** Files that nobody else may read. */
import {
  chmodSync,
  closeSync,
  fsync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { makeFolder } from './folder.ts'

const flush = promisify(fsync)

/** Writes a file, whole or not at all, 0600 in a folder that is 0700 (which is made). @throws as `makeFolder` and `node:fs` do. */
export function writePrivateFile(path: string, text: string): void {
  const folder = dirname(path)
  const temporary = `${path}.${process.pid}`
  makeFolder(folder)
  chmodSync(folder, 0o700)
  rmSync(temporary, { force: true })
  const file = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(file, text)
    // Without it a power cut may leave the new name on an empty file, and what it held would be lost.
    fsyncSync(file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
}

/** Writes a file that is not there yet, 0600; what is in it is on the disk when this resolves. @throws as `node:fs` does; a part of it may be left. */
export async function writeNewFile(path: string, content: string | Uint8Array): Promise<void> {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, content)
    // It is the disk alone that takes long.
    await flush(file)
  } finally {
    closeSync(file)
  }
}
