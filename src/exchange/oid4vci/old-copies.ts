/**
 * Copies of a credential that was issued anew with other claims: they are revoked when the wallet says that
 * it has the new ones, else after some days, so that it is never without a valid one.
 */
import { toSteady } from '../../foundation/clock.ts'
import { canonicalize } from '../../foundation/json.ts'
import { digestOf } from '../../foundation/oauth/secrets.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { findPlanned, planRevocation, revokePlanned } from '../../wallet/credential-status/lists.ts'
import { cancelQueue, enqueue } from '../../wallet/outbox/job.ts'
import { LaterError, type Task } from '../../wallet/wallet.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'

/** How long the wallet has to say that it has the new copies. */
const waitMs = 7 * 86_400_000

/** The name of the task in jobs. */
export const revokeCopiesTask = 'revoke old copies'

const queueOf = (recordId: string) => `copies:${recordId}`

export const claimsDigest = (claims: CredentialRecord['claims']) => digestOf(canonicalize(claims))

/** Whether a credential is issued with other claims than before. */
export function hasChanged(
  { claims, claimsSource }: CredentialRecord,
  next: CredentialRecord['claims'],
): boolean {
  // Of an earlier release: the record need not have the claims of the source.
  const areKept = !claimsSource || claimsSource.offered !== undefined
  const before = claimsSource?.issued ?? (areKept ? claimsDigest(claims) : undefined)
  return before !== undefined && before !== claimsDigest(next)
}

/** Plans to revoke the copies that a record has. Call it before new ones are stored. */
export async function planOldCopies(tx: Tx, recordId: string): Promise<void> {
  const atMs = Date.now() + waitMs
  if (!(await planRevocation(tx, recordId, new Date(atMs).toISOString()))) return
  const body = { kind: 'task', protocol: issueCredential.name, recordId, task: revokeCopiesTask } as const
  await enqueue(tx, queueOf(recordId), body, new Date(toSteady(atMs)))
}

/** The wallet has the new copies. */
export async function revokeOldCopies(tx: Tx, recordId: string): Promise<void> {
  await revokePlanned(tx, recordId)
  await cancelQueue(tx, queueOf(recordId))
}

/** The wallet has not said for some days that it has the new copies. */
export const revokeUnconfirmed: Task = async ({ db }, recordId) => {
  const dueAt = await findPlanned(db, recordId)
  const now = Date.now()
  if (dueAt !== undefined && now < Date.parse(dueAt))
    throw new LaterError(new Date(toSteady(Date.parse(dueAt))))
  return (tx) => revokePlanned(tx, recordId, new Date(now).toISOString())
}
