/** Reading the chain of the audit log from end to end, to find whether somebody has altered it. */
import { setImmediate as turn } from 'node:timers/promises'
import { z } from 'zod'
import type { AuditDb } from '../storage/database.ts'
import { beginning, isGenuine, parsePlace, retention, toText, type Place } from './chain.ts'

/** Entries that are read at a time, which takes some milliseconds; others have their turn in between. */
const pageSize = 200

export const AuditVerification = z
  .object({
    isIntact: z
      .boolean()
      .describe(
        'Whether every entry is as the agent wrote it, and none is missing as far as that can be told.',
      ),
    entries: z.int().describe('How many there are.'),
    head: z
      .string()
      .optional()
      .describe('The newest entry, to be noted elsewhere: its number and its digest.'),
    fault: z
      .object({ sequence: z.int(), reason: z.string() })
      .optional()
      .describe('The first entry at which something is wrong, and what.'),
    noted: z
      .enum(['there', 'missing', 'too old'])
      .optional()
      .describe(
        'Whether the head that was given is there. `too old`: it is from before the oldest entry that is kept.',
      ),
  })
  .meta({ id: 'AuditVerification' })
export type AuditVerification = z.infer<typeof AuditVerification>

/** `expected` is the newest entry that the daemon knows of, `noted` one that somebody has kept. */
export type Known = { expected: Place; noted?: Place | undefined }

/** Verifies the chain by the 32-byte key. It may grow meanwhile, and must not lose entries in good order. */
export async function verify(
  db: AuditDb,
  key: Uint8Array,
  { expected, noted }: Known,
): Promise<AuditVerification> {
  let [entries, last, fault, isExpectedThere]: [number, Place, AuditVerification['fault'], boolean] = [
    0,
    beginning,
    undefined,
    false,
  ]
  let first: Place = beginning
  /** What was taken away in good order. */
  const taken = new Set<string>([toText(beginning)])
  let isNotedThere = false
  // Numbers begin with 1; somebody else's may not.
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
        taken.add((JSON.parse(row.subject ?? '{}') as { through?: string }).through ?? '')
      last = { sequence: row.sequence, digest: row.digest }
      read = row.sequence
      isExpectedThere ||= toText(last) === toText(expected)
      isNotedThere ||= noted !== undefined && toText(last) === toText(noted)
    }
    await turn()
  }
  if (!taken.has(toText(first)))
    fault ??= { sequence: first.sequence + 1, reason: 'entries before it were taken away' }
  if (expected.sequence > 0 && !isExpectedThere)
    fault ??= { sequence: expected.sequence, reason: 'it is not as the running daemon wrote it, or missing' }
  const found =
    noted &&
    (isNotedThere || noted.sequence === 0
      ? 'there'
      : noted.sequence < first.sequence + 1 && !fault
        ? 'too old'
        : 'missing')
  return {
    isIntact: fault === undefined && found !== 'missing',
    entries,
    ...(entries > 0 && { head: toText(last) }),
    ...(fault && { fault }),
    ...(found && { noted: found }),
  }
}

function faultIn(
  key: Uint8Array,
  row: Parameters<typeof isGenuine>[1],
  last: Place,
): AuditVerification['fault'] {
  const { sequence } = row
  if (sequence !== last.sequence + 1)
    return { sequence, reason: `entries between ${last.sequence} and it were taken away` }
  if (row.previous !== last.digest) return { sequence, reason: 'it does not follow the entry before' }
  return isGenuine(key, row) ? undefined : { sequence, reason: 'it is not as it was written' }
}

/** A head that was noted, as it was printed. */
export const Head = z.string().transform((text, context) => {
  const place = parsePlace(text)
  if (place) return place
  context.addIssue({
    code: 'custom',
    message: 'is not a head as the verification has it, such as 42:<digest>',
  })
  return z.NEVER
})
