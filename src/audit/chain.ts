/**
 * The chain of the audit log: each entry's digest is over the entry before too.
 *
 * The key is derived from the agent key. So whoever changes, adds, takes out or moves an entry without it is found out; whoever cuts off the
 * newest ones is, where a head was noted elsewhere (RFC 6962 calls such a thing a tree head).
 */
import { keyedDigest } from '../base/seal.ts'
import { canonicalize } from '../base/json.ts'
import { toEntry, toRow, type Act, type AuditEntry, type Result } from './entry.ts'

/** A place in the chain: the newest entry, when it is noted to be found again. */
export type Place = { sequence: number; digest: string }

/** Before the first entry. */
export const beginning: Place = { sequence: 0, digest: '' }

/** The agent's own action that takes away the oldest entries; its subject names the last of them, whose digest the oldest that is left holds. */
export const retention = 'retention'

/** The digest of an entry by a 32-byte key, base64url. */
export function digestOf(key: Uint8Array, entry: Omit<AuditEntry, 'digest'>): string {
  return keyedDigest(key, canonicalize(entry))
}

/** Whether a row is an entry as it was written. */
export function isGenuine(key: Uint8Array, row: Parameters<typeof toEntry>[0]): boolean {
  try {
    const { digest, ...entry } = toEntry(row)
    return digestOf(key, entry) === digest
  } catch {
    return false
  }
}

/** The entry that comes after a place. */
export function entryAfter(
  key: Uint8Array,
  { sequence, digest: previous }: Place,
  act: Act & { at: string },
  result: Result,
): AuditEntry {
  // By way of its columns, so that what is digested is what is read again.
  const { digest: _none, ...entry } = toEntry(
    toRow({ ...act, ...result, sequence: sequence + 1, previous, digest: '' }),
  )
  return { ...entry, digest: digestOf(key, entry) }
}

/** A place as a text, such as `42:Zm9v…`. */
export function toText({ sequence, digest }: Place): string {
  return `${sequence}:${digest}`
}

/** A place from its text; nothing where it is none. */
export function parsePlace(text: string): Place | undefined {
  const [, sequence, digest] = /^(\d{1,15}):([\w-]{43}|)$/.exec(text) ?? []
  if (sequence === undefined || digest === undefined) return undefined
  return (sequence === '0') === (digest === '') ? { sequence: Number(sequence), digest } : undefined
}
