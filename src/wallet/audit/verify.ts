/** Verifies the chain of the audit log from its first to its last entry. */
import { setImmediate as nextIteration } from 'node:timers/promises'
import * as z from 'zod'
import type { AuditDb } from '../../foundation/storage/database.ts'
import { emptyHead, headToText, isGenuine, parseHead, retention, type ChainHead } from './chain.ts'

/** Entries that are read at a time, which takes some milliseconds. Requests run in between. */
const pageSize = 200

export const AuditVerification = z
  .object({
    isIntact: z
      .boolean()
      .describe('Whether all entries are as the agent wrote them, and none is known to be missing.'),
    entries: z.int().describe('Number of entries.'),
    head: z.string().optional().describe('Number and digest of the newest entry, to be noted elsewhere.'),
    fault: z
      .object({ sequence: z.int(), reason: z.string() })
      .optional()
      .describe('The first entry that is wrong, and the reason.'),
    noted: z
      .enum(['there', 'missing', 'too old'])
      .optional()
      .describe('Whether the log contains the given head. `too old`: it precedes the oldest entry.'),
  })
  .meta({ id: 'AuditVerification' })
export type AuditVerification = z.infer<typeof AuditVerification>

/**
 * `expected`: the newest entry that this process has written; another process may have pruned it. `noted`: a
 * head that the administrator has noted.
 */
export type Known = { expected: ChainHead; noted?: ChainHead | undefined }

/** Verifies the chain with the 32-byte key. The log may grow meanwhile, but must not be pruned. */
export async function verify(
  db: AuditDb,
  key: Uint8Array,
  { expected, noted }: Known,
): Promise<AuditVerification> {
  let entries = 0
  let [first, last] = [emptyHead, emptyHead]
  let fault: AuditVerification['fault']
  let [isExpectedThere, isNotedThere] = [false, false]
  /** Heads up to which entries were pruned. */
  const pruned = new Set<string>([headToText(emptyHead)])
  // Genuine numbers begin with 1; forged ones may be lower.
  let read = Number.MIN_SAFE_INTEGER
  for (;;) {
    const rows = await db
      .selectFrom('entry')
      .selectAll()
      .where('sequence', '>', read)
      .orderBy('sequence')
      .limit(pageSize)
      .execute()
    if (rows.length === 0) break
    for (const row of rows) {
      if (entries === 0) first = last = { sequence: row.sequence - 1, digest: row.previous }
      entries++
      fault ??= faultIn(key, row, last)
      if (!fault && row.action === retention)
        pruned.add((JSON.parse(row.subject ?? '{}') as { through?: string }).through ?? '')
      last = { sequence: row.sequence, digest: row.digest }
      read = row.sequence
      isExpectedThere ||= headToText(last) === headToText(expected)
      isNotedThere ||= noted !== undefined && headToText(last) === headToText(noted)
    }
    await nextIteration()
  }
  if (!pruned.has(headToText(first)))
    fault ??= { sequence: first.sequence + 1, reason: 'entries before it were removed' }
  if (expected.sequence > first.sequence && !isExpectedThere)
    fault ??= { sequence: expected.sequence, reason: 'it is missing, or not as the running daemon wrote it' }
  const found = noted && search(noted)
  return {
    isIntact: fault === undefined && found !== 'missing',
    entries,
    ...(entries > 0 && { head: headToText(last) }),
    ...(fault && { fault }),
    ...(found && { noted: found }),
  }

  function search({ sequence }: ChainHead): AuditVerification['noted'] {
    if (isNotedThere || sequence === 0) return 'there'
    return sequence <= first.sequence && !fault ? 'too old' : 'missing'
  }
}

function faultIn(
  key: Uint8Array,
  row: Parameters<typeof isGenuine>[1],
  last: ChainHead,
): AuditVerification['fault'] {
  const { sequence } = row
  if (sequence !== last.sequence + 1)
    return { sequence, reason: `entries between ${last.sequence} and it were removed` }
  if (row.previous !== last.digest) return { sequence, reason: 'it does not follow the previous entry' }
  return isGenuine(key, row) ? undefined : { sequence, reason: 'it was altered' }
}

/** A noted head, in the form in which the verification returns it. */
export const Head = z.string().transform((text, context) => {
  const head = parseHead(text)
  if (head) return head
  context.addIssue({ code: 'custom', message: 'is not a head such as 42:<digest>' })
  return z.NEVER
})
