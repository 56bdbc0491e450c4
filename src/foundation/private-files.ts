/** Folders and files that only their owner may read, and that survive a power failure. */
import {
  chmodSync,
  closeSync,
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'

const fsyncInThread = promisify(fsync)

/** A folder cannot be created or used. The message is a clause with the path and the reason. */
export class FolderError extends Error {
  override name = 'FolderError'
}

/**
 * Creates a folder with mode 0700, and its missing parents. Does nothing when the folder exists.
 *
 * `mkdirSync` with `recursive` never returns for a path such as `/proc/x`, whose parent exists and accepts no
 * folders.
 *
 * @throws {FolderError}
 */
export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let at = resolve(path); findEntry(at) === undefined; at = dirname(at)) missing.unshift(at)
  for (const folder of missing) makeOne(folder)
  if (!findEntry(path)?.isDirectory()) throw new FolderError(`${path} is not a folder`)
}

/** Turns an error of `node:fs` at a path into words. */
export function folderFault(error: unknown, path: string): FolderError {
  if (error instanceof FolderError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const reason = folderReasons()[code] ?? `cannot be used (${code || message})`
  return new FolderError(`${path} ${reason}`, { cause: error })
}

function folderReasons(): Record<string, string> {
  const closed = `must be readable and writable for the user with id ${process.getuid?.() ?? '?'}`
  return {
    EACCES: closed,
    EPERM: closed,
    ENOTDIR: 'is not a folder',
    ENOENT: 'accepts no new folders',
    EROFS: 'is on a read-only file system',
    ENOSPC: 'is on a full disk',
    EDQUOT: 'is over its disk quota',
    ENAMETOOLONG: 'accepts no names as long as this',
    ELOOP: 'is a symbolic link that leads to itself',
  }
}

/** @throws {FolderError} when even the root cannot be read */
function findEntry(path: string) {
  try {
    return statSync(path)
  } catch (error) {
    if (dirname(resolve(path)) === resolve(path)) throw folderFault(error, path)
    return undefined
  }
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw folderFault(error, dirname(folder))
  }
}

/**
 * Replaces a file (0600) atomically, in a folder (0700) that is created if missing.
 *
 * @throws as `makeFolder` and `node:fs` do
 */
export function writePrivateFile(path: string, text: string): void {
  const folder = dirname(path)
  makeFolder(folder)
  chmodSync(folder, 0o700)
  replaceFile(path, text, 0o600)
}

/** Replaces a file atomically. @throws as `node:fs` does */
export function replaceFile(path: string, text: string, mode: number): void {
  const temporary = `${path}.${process.pid}`
  rmSync(temporary, { force: true })
  const file = openSync(temporary, 'wx', mode)
  try {
    writeSync(file, text)
    // After a power failure, the new name could otherwise stand for an empty file.
    fsyncSync(file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
}

/**
 * Creates a file (0600). Its content is on the disk when this resolves.
 *
 * @throws as `node:fs` does, also when the file exists. A part of the file may be left.
 */
export async function writeNewFile(path: string, content: string | Uint8Array): Promise<void> {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, content)
    await fsyncInThread(file)
  } finally {
    closeSync(file)
  }
}

/** Flushes the names in a folder to the disk. Windows cannot open folders, and does not need this. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** As `syncFolder`, but does not block the event loop. */
export async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    await fsyncInThread(folder)
  } finally {
    closeSync(folder)
  }
}
