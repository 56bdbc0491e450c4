/** Taking away the oldest entries of the audit log. */
import type { AuditTx } from '../storage/database.ts'
import { isGenuine, retention, toText } from './chain.ts'
import type { Act } from './entry.ts'

/** At once. */
const most = 500

/**
 * Takes away the oldest entries that were begun before a moment, some at a time. Returns the act to enter for it; nothing when none is old.
 *
 * One that is not genuine stays, and all after it: otherwise whoever wants an entry gone would only have to make it old.
 */
export async function prune(
  tx: AuditTx,
  key: Uint8Array,
  before: string,
): Promise<(Act & { at: string }) | undefined> {
  const rows = await tx.selectFrom('entry').selectAll().orderBy('sequence').limit(most).execute()
  const end = rows.findIndex((row) => row.at >= before || !isGenuine(key, row))
  const last = rows.at(end === -1 ? rows.length - 1 : end - 1)
  if (end === 0 || !last) return undefined
  await tx.deleteFrom('entry').where('sequence', '<=', last.sequence).execute()
  return {
    at: new Date().toISOString(),
    actor: 'agent',
    action: retention,
    subject: { through: toText(last) },
  }
}
