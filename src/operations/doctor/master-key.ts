/**
 * Checks the master key: whether it exists, belongs to the data folder, and is private. Without it the folder
 * cannot be read.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../foundation/config/config.ts'
import { StartError } from '../../foundation/start-error.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { findAgentKey, stillPrevious } from '../../wallet/agent-key.ts'
import { getMasterKeySource } from '../../wallet/master-key.ts'
import type { Finding } from './check.ts'

/** Opens the agent key as the next start would, without any change. */
export async function checkMasterKey(config: Config, db: AgentDb): Promise<Finding> {
  const source = await getMasterKeySource(config, db)
  const store = config.AGENT_DATABASE_URL ? 'database' : 'data folder'
  try {
    const opened = await findAgentKey(config, db)
    opened?.agentKey.fill(0)
    if (opened?.by === 'previous') return { status: 'warning', detail: stillPrevious(opened) }
    if (opened?.by === 'earlier')
      return {
        status: 'warning',
        detail: 'The master key is in a file. The next start moves it into the keyring.',
        hint: 'agent daemon start',
      }
    if (opened?.by === 'next')
      return {
        status: 'warning',
        detail: 'A rotation of the master key was interrupted. The next start finishes it.',
        hint: 'agent daemon start',
      }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const place = source.path ?? (source.earlier && join(config.AGENT_DATA_DIR, 'master.key'))
    const hint =
      place === undefined
        ? 'AGENT_MASTER_KEY=<the right key> agent daemon start'
        : `cp <a copy of the key> ${place}   # or run agent master-key rotate before the daemon stops: afterwards the data cannot be read`
    return { status: 'failed', detail: error.message, hint }
  }
  if (source.path === undefined)
    return { status: 'ok', detail: `The key in ${source.name} belongs to the ${store}.` }
  // Windows has no file modes.
  const isOpen = process.platform !== 'win32' && (statSync(source.path).mode & 0o077) !== 0
  if (isOpen)
    return {
      status: 'failed',
      detail: `Other users can read ${source.path}, which opens everything.`,
      hint: `chmod 600 ${source.path}`,
    }
  return {
    status: 'ok',
    detail: `${source.path} belongs to the ${store}, and only its owner can read it.`,
  }
}
