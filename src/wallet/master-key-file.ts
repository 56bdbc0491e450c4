/**
 * The file of the master key, and `<file>.next` beside it, which is there while the key is replaced.
 *
 * The next key is on the disk before anything is wrapped with it, and takes the name of the file afterwards. What a crash leaves between
 * the two is settled by whichever of them opens the agent key (`agent-key.ts`).
 */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { fromBase64, toBase64url } from '../base/bytes.ts'
import { StartError } from '../base/start-error.ts'
import { syncFolder } from '../base/private-files.ts'

/** Reads 32 bytes; makes them, where there is no file and `mayMake`. @throws {StartError} */
export function readMasterKeyFile(path: string, { mayMake = false } = {}): Uint8Array {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && mayMake) return makeKey(path)
    throw new StartError(
      `The master key cannot be read from ${path}. Put the file back, or give the key in AGENT_MASTER_KEY.`,
      4,
      {
        cause: error,
      },
    )
  }
  const key = parseMasterKey(text)
  if (key) return key
  throw new StartError(`The file ${path} does not hold a master key (32 bytes in base64url).`, 4)
}

/** Puts a key beside the present one, on the disk when this returns. @throws as `node:fs` does; nothing is left then. */
export function writeNextKey(path: string, key: Uint8Array): void {
  const next = nextTo(path)
  try {
    rmSync(next, { force: true })
    write(next, key)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
}

/** The key that is beside the present one; nothing where there is none, or a part of one. */
export function readNextKey(path: string): Uint8Array | undefined {
  try {
    return parseMasterKey(readFileSync(nextTo(path), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Puts the next key in the place of the present one. */
export function takeNextKey(path: string): void {
  renameSync(nextTo(path), target(path))
  // A power cut must not take back the name of a file whose key something is wrapped with.
  syncFolder(dirname(target(path)))
}

/** Forgets the next key. */
export function dropNextKey(path: string): void {
  const next = nextTo(path)
  // In a folder that may not be written there is none, and even asking for its removal would fail.
  if (existsSync(next)) rmSync(next)
}

/** A link, as secrets are often mounted by, goes on to point where it did. */
function target(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

function nextTo(path: string): string {
  return `${target(path)}.next`
}

/** The 32 bytes that a text stands for; nothing when it is none of a key, or a part of one. */
export function parseMasterKey(text: string): Uint8Array | undefined {
  try {
    const key = fromBase64(text.trim())
    return key.length === 32 ? key : undefined
  } catch {
    return undefined
  }
}

function makeKey(path: string): Uint8Array {
  const key = randomBytes(32)
  write(path, key)
  return key
}

/** Writes a new file, 0600. */
function write(path: string, key: Uint8Array): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, `${toBase64url(key)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  // The mode at creation is cut by the process's mask, which must not leave it wider than this.
  chmodSync(path, 0o600)
  // A power cut must not take back the name of a file whose key something is wrapped with.
  syncFolder(dirname(target(path)))
}
