/** The agent's key and the audit log at a start: each needs the other, since what happens to the key then is written down. */
import { join } from 'node:path'
import type { Config } from './base/config.ts'
import type { Log } from './base/log.ts'
import { deriveSealKey } from './base/seal.ts'
import type { AgentDb } from './storage/database.ts'
import { openAgentKey } from './wallet/agent-key.ts'
import { AuditLog } from './audit/audit-log.ts'

/** Opens both; the caller closes the log and erases the key. @throws {StartError} as `openAgentKey` and `AuditLog.open`; nothing is open then. */
export async function openAudited(
  config: Config,
  db: AgentDb,
  log: Log,
): Promise<{ agentKey: Uint8Array; audit: AuditLog }> {
  const open = (key: Uint8Array) =>
    AuditLog.open(join(config.AGENT_DATA_DIR, 'audit.db'), {
      key: deriveSealKey(key, 'audit'),
      log,
      retentionSeconds: config.AUDIT_RETENTION,
      refusalsPerMinute: config.AUDIT_REFUSALS_PER_MINUTE,
    })
  let begun: AuditLog | undefined
  try {
    const agentKey = await openAgentKey(config, db, log, async (key, action, work) => {
      begun = await open(key)
      await begun.byItself(action, work)
    })
    return { agentKey, audit: begun ?? (await open(agentKey)) }
  } catch (error) {
    await begun?.[Symbol.asyncDispose]()
    throw error
  }
}
