/** The agent key and the audit log, which need each other at a start. */
import { AuditLog } from '../wallet/audit/audit-log.ts'
import type { Config } from '../foundation/config/config.ts'
import type { Log } from '../foundation/log.ts'
import { deriveSealKey } from '../foundation/seal.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import type { Store } from './store.ts'
import { openAgentKey } from '../wallet/agent-key.ts'

/**
 * Opens the agent key and the audit log together: the log is sealed with the key, and changes of the key at a
 * start are audited.
 *
 * @throws {StartError} as `openAgentKey` and `AuditLog.open`; nothing is open then.
 */
export async function openAgentKeyAndAudit(
  config: Config,
  store: Store,
  db: AgentDb,
  log: Log,
): Promise<{ agentKey: Uint8Array; audit: AuditLog }> {
  const open = (key: Uint8Array) =>
    AuditLog.open(() => store.openAudit(), {
      key: deriveSealKey(key, 'audit'),
      log,
      retentionSeconds: config.AUDIT_RETENTION,
      refusalsPerMinute: config.AUDIT_REFUSALS_PER_MINUTE,
      processes: store.ownership,
    })
  let opened: AuditLog | undefined
  try {
    const agentKey = await openAgentKey(config, db, log, async (key, action, work) => {
      opened = await open(key)
      await opened.byItself(action, work)
    })
    return { agentKey, audit: opened ?? (await open(agentKey)) }
  } catch (error) {
    await opened?.[Symbol.asyncDispose]()
    throw error
  }
}
