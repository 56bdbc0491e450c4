/** How far a held credential is with its renewal, and the job that renews it. */
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { toSteady } from '../../foundation/clock.ts'
import { JsonValue } from '../../foundation/json.ts'
import { cancelQueue, enqueue } from '../../wallet/outbox/job.ts'
import type { Tx } from '../../foundation/storage/database.ts'

export const renewalStates = ['none', 'possible', 'running', 'needs-you', 'ended'] as const

/** A member of the claims that a renewal has changed. */
const ChangedClaim = z.object({
  name: z.string(),
  before: JsonValue.optional().describe('Absent: the claim is new.'),
  after: JsonValue.optional().describe('Absent: the credential no longer has the claim.'),
})

export const Renewal = z
  .object({
    state: z
      .enum(renewalStates)
      .describe(
        '`none`: the issuer gave no refresh token. `needs-you`: only a person can renew it, see `reason`. `ended`: it is not renewed any more, see `reason`.',
      ),
    reason: z.string().optional().describe('With `possible`: why the last renewal failed.'),
    dueAt: z.iso
      .datetime()
      .optional()
      .describe(
        'When the wallet renews it by itself (`OID4VC_REFRESH`), or without a refresh token needs you.',
      ),
    renewedAt: z.iso.datetime().optional().describe('When it was renewed last.'),
    count: z.int().optional().describe('How often it was renewed.'),
    changes: z.array(ChangedClaim).optional().describe('The claims that the last renewal has changed.'),
  })
  .meta({ id: 'HeldCredentialRenewal' })
export type Renewal = z.infer<typeof Renewal>

/** A renewal that runs: what of it is stored, so that a crash repeats no step that has succeeded. */
export const RunningRenewal = z.object({
  startedAt: z.iso.datetime(),
  copies: z.int(),
  /** Epoch milliseconds until which the new access token can be used. Absent: there is none yet. */
  tokenUntilMs: z.number().optional(),
  /** When it was given, in epoch milliseconds. */
  tokenAtMs: z.number().optional(),
  /** The DIDs of the new keys. */
  subjectIds: z.array(z.string()).optional(),
  transactionId: z.string().optional(),
  /** Epoch milliseconds before which a deferred credential is not asked for. */
  retryAfterMs: z.number().optional(),
  /** The received credentials, until they are checked. */
  received: z.array(z.string()).optional(),
  notificationId: z.string().optional(),
})
export type RunningRenewal = z.infer<typeof RunningRenewal>

/** How long an access token is used at the credential endpoint. */
const shortMs = 300_000

/** Whether the access token is over. An issuer may give it a long lifetime at the deferred endpoint alone. */
export function isEnded({ tokenUntilMs = 0, tokenAtMs = 0, transactionId }: RunningRenewal): boolean {
  const untilMs = transactionId === undefined ? Math.min(tokenUntilMs, tokenAtMs + shortMs) : tokenUntilMs
  return untilMs <= Date.now()
}

/** Renewals of a credential run one at a time, and beside the other jobs of its record. */
export const renewalQueueOf = (recordId: string) => `renewal:${recordId}`

/**
 * Plans the renewal of a credential for a time in epoch milliseconds, or for now. It replaces what was
 * planned before.
 */
export async function planRenewal(tx: Tx, recordId: string, dueAtMs?: number): Promise<void> {
  const queue = renewalQueueOf(recordId)
  await cancelQueue(tx, queue)
  const body = { kind: 'task', protocol: 'issue-credential', recordId, task: 'renewal' } as const
  await enqueue(tx, queue, body, dueAtMs === undefined ? undefined : new Date(toSteady(dueAtMs)))
}

/** The shortest and the longest time between a presentation and the renewal that it leads to. */
const [shortestPauseMs, longestPauseMs] = [3_600_000, 86_400_000]

/**
 * The renewal after a presentation that leaves few unused copies. It waits for some hours, because the issuer
 * must not learn when a credential is used.
 */
export async function planForCopies(tx: Tx, recordId: string, renewal: Renewal): Promise<Renewal> {
  const now = Date.now()
  // Planned already, perhaps for an earlier presentation.
  if (renewal.dueAt !== undefined && Date.parse(renewal.dueAt) <= now + longestPauseMs) return renewal
  const at = now + shortestPauseMs + Math.random() * (longestPauseMs - shortestPauseMs)
  await planRenewal(tx, recordId, at)
  return { ...renewal, dueAt: new Date(at).toISOString() }
}

/** A renewal that was due already, because the issuer gave the same credential again, waits so long. */
const shortestMs = 60_000

/**
 * When a credential is due: a fifth of its lifetime before its end, or up to a tenth earlier, so that
 * credentials that were issued together are not renewed together. In epoch milliseconds; undefined for a
 * credential without end.
 */
export function dueTimeOf(
  { validFrom, validUntil }: { validFrom?: number | undefined; validUntil?: number | undefined },
  now = Date.now(),
): number | undefined {
  if (validUntil === undefined) return undefined
  const end = validUntil * 1_000
  const lifetime = end - (validFrom === undefined ? now : validFrom * 1_000)
  const at = end - lifetime * (0.2 + Math.random() * 0.1)
  return at > now ? at : now + Math.max(shortestMs, (end - now) / 2)
}

/** Members that each new credential has anew. */
const technical = ['cnf', 'iat', 'exp', 'nbf', 'status', 'id']

type Claims = Readonly<Record<string, z.infer<typeof JsonValue>>>

/** The claims that a renewal has changed, by their names. */
export function changesOf(before: Claims, after: Claims): NonNullable<Renewal['changes']> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names
    .filter((name) => !technical.includes(name) && !isDeepStrictEqual(before[name], after[name]))
    .map((name) => ({ name, before: before[name], after: after[name] }))
}
