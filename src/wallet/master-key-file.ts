/**
 * The file of the master key; `<file>.next`, which exists during a rotation; and `<file>.<date>`, the key
 * that was replaced then.
 *
 * The next key is on disk before anything is wrapped with it, and is renamed to the file afterwards. After a
 * crash in between, a start tries both keys (`agent-key.ts`). A replaced key opens nothing but earlier copies
 * of the data.
 */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fromBase64, toBase64url } from '../foundation/bytes.ts'
import { StartError } from '../foundation/start-error.ts'
import { syncFolder } from '../foundation/private-files.ts'
import type { KeptKey } from './master-key.ts'

/** Reads the key (32 bytes). With `mayMake`, a missing file is created. @throws {StartError} */
export function readMasterKeyFile(path: string, { mayMake = false } = {}): Uint8Array {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && mayMake) {
      if (/^(?:\/var)?\/run\//.test(resolve(path))) throw lostAtBoot(path)
      const key = randomBytes(32)
      write(path, key)
      return key
    }
    throw new StartError(
      `The master key cannot be read from ${path}. Restore the file, or set AGENT_MASTER_KEY.`,
      4,
      { cause: error },
    )
  }
  const key = parseMasterKey(text)
  if (key) return key
  throw new StartError(`The file ${path} does not hold a master key (32 bytes in base64url).`, 4)
}

/**
 * A credential of systemd or a secret of a container that was not provided: a key of our own would be lost
 * with it.
 */
function lostAtBoot(path: string): StartError {
  return new StartError(
    `There is no master key at ${path}, and a new one would be lost there at the next boot, with everything that it encrypts. Provide the file: openssl rand -base64 32.`,
    4,
  )
}

/** Writes and syncs the next key. @throws as `node:fs` does; nothing is left then. */
export function writeNextKey(path: string, key: Uint8Array): void {
  const next = nextTo(path)
  rmSync(next, { force: true })
  write(next, key)
}

/** The next key. Undefined when there is none, or only a part of one. */
export function readNextKey(path: string): Uint8Array | undefined {
  try {
    return parseMasterKey(readFileSync(nextTo(path), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export function installNextKey(path: string): void {
  renameSync(nextTo(path), realPath(path))
  // A power failure must not undo the rename: the agent key may be wrapped with this key already.
  syncFolder(dirname(realPath(path)))
}

/**
 * Writes a key that is to be replaced to `<file>.<date>`, unless it is in such a file already. Returns the
 * path.
 */
export function keepKey(path: string, replaced: Uint8Array): string {
  const known = findKept(readKeptKeys(path), ({ name, key }) =>
    Buffer.compare(key, replaced) === 0 ? name : undefined,
  )
  if (known !== undefined) return known
  const kept = `${realPath(path)}.${new Date().toISOString().replaceAll(':', '-')}`
  write(kept, replaced)
  return kept
}

/** The keys that rotations have replaced, newest first. */
export function readKeptKeys(path: string): KeptKey[] {
  const real = realPath(path)
  const folder = dirname(real)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(real)}.2`))
    .toSorted()
    .toReversed()
    .flatMap((name) => {
      const file = join(folder, name)
      const key = parseMasterKey(readFileSync(file, 'utf8'))
      return key ? [{ name: file, key }] : []
    })
}

/** The first result of `use` for one of the keys. All of them are filled with zeros. */
export function findKept<T>(kept: readonly KeptKey[], use: (each: KeptKey) => T | undefined): T | undefined {
  try {
    for (const each of kept) {
      const found = use(each)
      if (found !== undefined) return found
    }
    return undefined
  } finally {
    for (const { key } of kept) key.fill(0)
  }
}

export function discardNextKey(path: string): void {
  const next = nextTo(path)
  // In a read-only folder `rmSync` fails even when there is no file.
  if (existsSync(next)) rmSync(next)
}

/** Secrets are often mounted as symbolic links: the file behind the link is replaced, not the link. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

function nextTo(path: string): string {
  return `${realPath(path)}.next`
}

/** Decodes a key of 32 bytes; undefined when the text is not a whole key. */
export function parseMasterKey(text: string): Uint8Array | undefined {
  try {
    const key = fromBase64(text.trim())
    return key.length === 32 ? key : undefined
  } catch {
    return undefined
  }
}

/** Writes and syncs a new file with mode 0600. @throws as `node:fs` does; nothing is left then. */
function write(path: string, key: Uint8Array): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    try {
      writeSync(file, `${toBase64url(key)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    // The umask may have changed the mode at creation.
    chmodSync(path, 0o600)
    // A power failure must not undo the rename: the agent key may be wrapped with this key already.
    syncFolder(dirname(realPath(path)))
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}
