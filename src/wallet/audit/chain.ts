/**
 * The chain of the audit log: the digest of each entry covers the digest of the entry before.
 *
 * The HMAC key is derived from the agent key. Without it, an entry cannot be changed, added, removed or moved
 * unnoticed. The removal of the newest entries is noticed if a head was noted elsewhere (compare the tree
 * head of RFC 6962).
 */
import { canonicalize } from '../../foundation/json.ts'
import { keyedDigest } from '../../foundation/seal.ts'
import type { AuditTx } from '../../foundation/storage/database.ts'
import { toEntry, toRow, type Act, type AuditEntry, type Result } from './entry.ts'

/** The newest entry: its number, and its digest in base64url. */
export type ChainHead = { sequence: number; digest: string }

export const emptyHead: ChainHead = { sequence: 0, digest: '' }

/** The agent's action that removes the oldest entries. Its subject names the last of them as `through`. */
export const retention = 'retention'

const maxPruned = 500

function digestOf(key: Uint8Array, entry: Omit<AuditEntry, 'digest'>): string {
  return keyedDigest(key, canonicalize(entry))
}

/** Whether a row is an entry that the 32-byte key made. */
export function isGenuine(key: Uint8Array, row: Parameters<typeof toEntry>[0]): boolean {
  try {
    const { digest, ...entry } = toEntry(row)
    return digestOf(key, entry) === digest
  } catch {
    return false
  }
}

export function entryAfter(
  key: Uint8Array,
  { sequence, digest: previous }: ChainHead,
  act: Act & { at: string },
  result: Result,
): AuditEntry {
  // The digest covers the entry as it will be read from its row.
  const { digest: _none, ...entry } = toEntry(
    toRow({ ...act, ...result, sequence: sequence + 1, previous, digest: '' }),
  )
  return { ...entry, digest: digestOf(key, entry) }
}

/** A head as text, such as `42:Zm9v…`. */
export function headToText({ sequence, digest }: ChainHead): string {
  return `${sequence}:${digest}`
}

export function parseHead(text: string): ChainHead | undefined {
  const [, sequence, digest] = /^(\d{1,15}):([\w-]{43}|)$/.exec(text) ?? []
  if (sequence === undefined || digest === undefined) return undefined
  return (sequence === '0') === (digest === '') ? { sequence: Number(sequence), digest } : undefined
}

/**
 * Removes up to 500 of the oldest entries, if they began before an instant. Returns the act to log, or
 * undefined if none was removed.
 *
 * An entry that is not genuine stays, with all later ones. Otherwise an attacker could remove an entry by
 * backdating it.
 */
export async function prune(
  tx: AuditTx,
  key: Uint8Array,
  before: string,
): Promise<(Act & { at: string }) | undefined> {
  const rows = await tx.selectFrom('entry').selectAll().orderBy('sequence').limit(maxPruned).execute()
  const end = rows.findIndex((row) => row.at >= before || !isGenuine(key, row))
  const last = rows.at(end === -1 ? rows.length - 1 : end - 1)
  if (end === 0 || !last) return undefined
  await tx.deleteFrom('entry').where('sequence', '<=', last.sequence).execute()
  return {
    at: new Date().toISOString(),
    actor: 'agent',
    action: retention,
    subject: { through: headToText(last) },
  }
}
