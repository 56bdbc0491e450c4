/** The master key, which wraps the agent key: from the environment, or from a file made on first start (decisions.md §3). */
import { join } from 'node:path'
import { fromBase64 } from '../base/bytes.ts'
import type { Config } from '../base/config.ts'
import type { Secret } from '../base/secret.ts'
import { readMasterKeyFile } from './master-key-file.ts'

/** Where the master key is. `name` is for people. A key that is in a variable is the operator's to replace. */
export type MasterKeySource = { name: string; variable: Secret } | { name: string; path: string }

/** Where this configuration has the master key. */
export function sourceOf(config: Config): MasterKeySource {
  if (config.AGENT_MASTER_KEY) return { name: 'AGENT_MASTER_KEY', variable: config.AGENT_MASTER_KEY }
  const path = config.AGENT_MASTER_KEY_FILE ?? join(config.AGENT_DATA_DIR, 'master.key')
  return { name: path, path }
}

/** The 32 bytes of the master key; a file is made when it is not there and `mayMake`. @throws {StartError} when it cannot be read. */
export function readMasterKey(source: MasterKeySource, options: { mayMake?: boolean } = {}): Uint8Array {
  return 'path' in source ? readMasterKeyFile(source.path, options) : fromBase64(source.variable.reveal())
}
