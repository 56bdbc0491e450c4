/** The master key: is it there, is it the folder's, and can nobody else read it? Without it nothing in the folder can be read again. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../base/config.ts'
import { StartError } from '../base/start-error.ts'
import type { AgentDb } from '../storage/database.ts'
import { findAgentKey, stillPrevious } from '../wallet/agent-key.ts'
import { getMasterKeySource } from '../wallet/master-key.ts'
import type { Finding } from './check.ts'

/** Opens the agent key as the next start would, and changes nothing. */
export async function checkMasterKey(config: Config, db: AgentDb): Promise<Finding> {
  const source = await getMasterKeySource(config, db)
  try {
    const opened = await findAgentKey(config, db)
    opened?.agentKey.fill(0)
    if (opened?.by === 'previous') return { status: 'warning', detail: stillPrevious(opened) }
    if (opened?.by === 'earlier')
      return {
        status: 'warning',
        detail: 'The master key is in a file; the next start moves it into the keyring.',
        hint: 'agent daemon start',
      }
    if (opened?.by === 'next')
      return {
        status: 'warning',
        detail: 'A rotation of the master key was cut off; the next start finishes it.',
        hint: 'agent daemon start',
      }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const place = source.path ?? (source.earlier && join(config.AGENT_DATA_DIR, 'master.key'))
    const hint =
      place === undefined
        ? 'AGENT_MASTER_KEY=<the right key> agent daemon start'
        : `cp <a copy of the key> ${place}   # or agent key rotate, before the daemon ends: afterwards nothing can be read`
    return { status: 'failed', detail: error.message, hint }
  }
  if (source.path === undefined)
    return { status: 'ok', detail: `The key in ${source.name} is the one of the data folder.` }
  // Windows has no such modes.
  const isOpen = process.platform !== 'win32' && (statSync(source.path).mode & 0o077) !== 0
  if (isOpen)
    return {
      status: 'failed',
      detail: `${source.path} opens everything, and others can read it.`,
      hint: `chmod 600 ${source.path}`,
    }
  return {
    status: 'ok',
    detail: `${source.path} is the one of the data folder, and nobody else can read it.`,
  }
}
