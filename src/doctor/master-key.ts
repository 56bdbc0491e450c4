/** The master key: is it there, is it the folder's, and can nobody else read it? Without it nothing in the folder can be read again. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../base/config.ts'
import { StartError } from '../base/start-error.ts'
import type { AgentDb } from '../storage/database.ts'
import { openMasterKey } from '../wallet/master-key.ts'
import type { Finding } from './check.ts'

/** Opens the key as the next start would; `db` must know its check, so that none is made. */
export async function checkMasterKey(config: Config, db: AgentDb): Promise<Finding> {
  const path = config.AGENT_MASTER_KEY_FILE ?? join(config.AGENT_DATA_DIR, 'master.key')
  try {
    await openMasterKey(config, db)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const hint = config.AGENT_MASTER_KEY
      ? 'AGENT_MASTER_KEY=<the right key> agent daemon start'
      : `cp <a copy of the key> ${path}   # before the daemon ends: afterwards nothing can be read`
    return { status: 'failed', detail: error.message, hint }
  }
  if (config.AGENT_MASTER_KEY) return { status: 'ok', detail: 'The key in AGENT_MASTER_KEY is the one of the data folder.' }
  // Windows has no such modes.
  const isOpen = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
  if (isOpen) return { status: 'failed', detail: `${path} opens everything, and others can read it.`, hint: `chmod 600 ${path}` }
  return { status: 'ok', detail: `${path} is the one of the data folder, and nobody else can read it.` }
}
