/** The master key, which wraps the agent key, and where it is: in a variable, in a file made on first start, or in a keyring (decisions.md §3). */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fromBase64 } from '../base/bytes.ts'
import type { Config } from '../base/config.ts'
import type { AgentDb } from '../storage/database.ts'
import { dropNextKey, readMasterKeyFile, readNextKey, takeNextKey, writeNextKey } from './master-key-file.ts'
import { keyringSource } from './master-key-keyring.ts'

/** Where the master key is. */
export type MasterKeySource = {
  /** For people. */
  name: string
  /** The file, where it is in one. */
  path?: string
  /** The 32 bytes; they are made when there are none and `mayMake`. @throws {StartError} when they cannot be read. */
  read(options?: { mayMake?: boolean }): Promise<Uint8Array>
  /** The place of the key that is to replace it; absent where only the operator can replace it. */
  next?: NextKey
  /** The file in which it was before it came here. */
  earlier?: { read(): Uint8Array | undefined; forget(): void }
}

/** The place beside the master key. What is there survives a crash, and is no master key until it is taken. */
export type NextKey = {
  /** Nothing where there is none, or a part of one. */
  read(): Promise<Uint8Array | undefined>
  /** @throws when it cannot be kept; nothing is left then. */
  write(key: Uint8Array): Promise<void>
  /** Puts it in the place of the present one. */
  take(): Promise<void>
  drop(): Promise<void>
}

/** Where this configuration has the master key of a data folder. */
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
      forget: () => rmSync(ownPath, { force: true }),
    },
  }
}

function fileSource(path: string): MasterKeySource {
  return {
    name: path,
    path,
    read: async (options) => readMasterKeyFile(path, options),
    next: {
      read: async () => readNextKey(path),
      write: async (key) => writeNextKey(path, key),
      take: async () => takeNextKey(path),
      drop: async () => dropNextKey(path),
    },
  }
}
