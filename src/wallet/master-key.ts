/**
 * The master key, which wraps the agent key, and its sources: a variable, a file that the first start makes,
 * or a keyring.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fromBase64 } from '../foundation/bytes.ts'
import type { Config } from '../foundation/config/config.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import {
  discardNextKey,
  readMasterKeyFile,
  keepKey,
  readKeptKeys,
  readNextKey,
  installNextKey,
  writeNextKey,
} from './master-key-file.ts'
import { keyringSource } from './master-key-keyring.ts'

export type MasterKeySource = {
  /** For texts. */
  name: string
  /** The path, if the source is a file. */
  path?: string
  /**
   * The 32 bytes. With `mayMake`, a missing key is made.
   *
   * @throws {StartError} when the key cannot be read.
   */
  read(options?: { mayMake?: boolean }): Promise<Uint8Array>
  /** The keys that rotations have replaced, which earlier copies of the data need, newest first. */
  readKept?(): Promise<KeptKey[]>
  /** Storage of the next key during a rotation. Absent when only the operator can replace the key. */
  next?: NextKey
  /** A file that holds the key before it is moved into the keyring. */
  earlier?: { read(): Uint8Array | undefined; remove(): void }
}

/** A replaced master key, and where it is, for texts. */
export type KeptKey = { name: string; key: Uint8Array }

/** Storage beside the master key. A key in it survives a crash, and becomes the master key with `install`. */
export type NextKey = {
  /** Undefined when there is none, or only a part of one. */
  read(): Promise<Uint8Array | undefined>
  /** @throws when it cannot be stored; nothing is left then. */
  write(key: Uint8Array): Promise<void>
  /** Keeps a key that is to be replaced, unless it is kept already. Returns where, for texts. */
  keep(replaced: Uint8Array): Promise<string>
  install(): Promise<void>
  discard(): Promise<void>
}

export async function getMasterKeySource(config: Config, db: AgentDb): Promise<MasterKeySource> {
  const variable = config.AGENT_MASTER_KEY
  if (variable)
    return { name: 'AGENT_MASTER_KEY', read: () => Promise.resolve(fromBase64(variable.reveal())) }
  const ownPath = join(config.AGENT_DATA_DIR, 'master.key')
  if (config.AGENT_MASTER_KEY_STORE === 'file') return fileSource(config.AGENT_MASTER_KEY_FILE ?? ownPath)
  return {
    ...(await keyringSource(db)),
    earlier: {
      read: () => (existsSync(ownPath) ? readMasterKeyFile(ownPath) : undefined),
      remove: () => rmSync(ownPath, { force: true }),
    },
  }
}

function fileSource(path: string): MasterKeySource {
  return {
    name: path,
    path,
    read: async (options) => readMasterKeyFile(path, options),
    readKept: async () => readKeptKeys(path),
    next: {
      read: async () => readNextKey(path),
      write: async (key) => writeNextKey(path, key),
      keep: async (replaced) => keepKey(path, replaced),
      install: async () => installNextKey(path),
      discard: async () => discardNextKey(path),
    },
  }
}
