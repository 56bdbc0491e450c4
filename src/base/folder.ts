/** Folders for one user alone, made with their parents. */
import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** A folder cannot be made or used. The message names the path at fault and the reason, without a full stop. */
export class FolderError extends Error {
  override name = 'FolderError'
}

/**
 * Makes a folder (0700) and the parents that are missing. Does nothing when it is there.
 *
 * Node's own `recursive` never returns for a path such as `/proc/x`: the parent exists, and takes no folder.
 *
 * @throws {FolderError}
 */
export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let at = resolve(path); find(at) === undefined; at = dirname(at)) missing.unshift(at)
  for (const folder of missing) make(folder)
  if (!find(path)?.isDirectory()) throw new FolderError(`${path} is not a folder`)
}

/** An error of `node:fs` at a path, in words. */
export function folderFault(error: unknown, path: string): FolderError {
  if (error instanceof FolderError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  return new FolderError(`${path} ${reasons()[code] ?? `cannot be used (${code || message})`}`, {
    cause: error,
  })
}

function reasons(): Record<string, string> {
  const closed = `must be readable and writable for the user with id ${process.getuid?.() ?? '?'}`
  return {
    EACCES: closed,
    EPERM: closed,
    ENOTDIR: 'is not a folder',
    ENOENT: 'takes no new folders',
    EROFS: 'is on a read-only file system',
    ENOSPC: 'is on a disk that is full',
    EDQUOT: 'is over its disk quota',
    ENAMETOOLONG: 'takes no names as long as this',
    ELOOP: 'is a symbolic link that leads to itself',
  }
}

/** The root is always there. */
function find(path: string) {
  try {
    return statSync(path)
  } catch (error) {
    if (dirname(resolve(path)) === resolve(path)) throw folderFault(error, path)
    return undefined
  }
}

function make(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it since.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw folderFault(error, dirname(folder))
  }
}
