/** Removes records of credentials and presentations (ours): what the wallet keeps of them, what is owed for them, and their DIDs. */
import { Problem } from '../../base/problem.ts'
import { findPlace } from '../../credential-status/lists.ts'
import { cancelJobs, JobBody } from '../../outbox/job.ts'
import type { Tx } from '../../storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from './find.ts'
import { issuanceFormats } from '../issue-credential/formats/index.ts'
import { issueCredential, type CredentialRecord } from '../issue-credential/model.ts'
import { PresentationData, presentProof } from '../present-proof/model.ts'
import { queueOf } from './record.ts'
import { revocationNotification } from '../revocation-notification/model.ts'

/**
 * Removes a credential record in any state; the holder's with its credential. The place in a status list stays given out, and what is revoked
 * stays so. The other side is not told of the removal.
 *
 * @throws {Problem} 404; 400 for the issuer's record of a credential that still holds, since without it nothing could revoke it, and for a
 * credential that is being presented.
 */
export function removeCredentialRecord(wallet: Wallet, recordId: string): Promise<void> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    if (record.role === 'Issuer') await mustNotHold(tx, record, wallet.env.config.CREDENTIAL_LEEWAY)
    else await mustNotBeNeeded(tx, recordId)
    await tx.deleteFrom('credential').where('id', '=', recordId).execute()
    await remove(tx, record)
  })
}

/** Removes a presentation record in any state. The other side is not told. @throws {Problem} 404 */
export function removePresentation(wallet: Wallet, presentationId: string): Promise<void> {
  return wallet.transaction(async (tx) => {
    await remove(tx, await getRecord(tx, presentProof, presentationId))
  })
}

async function remove(
  tx: Tx,
  { id, connectionId }: { id: string; connectionId?: string | undefined },
): Promise<void> {
  await tx.deleteFrom('record').where('id', '=', id).execute()
  await tx.deleteFrom('peer_did').where('record_id', '=', id).execute()
  const queues = [queueOf(id), `notices:${id}`]
  const jobs = await tx.selectFrom('job').select(['id', 'body']).where('queue', 'in', queues).execute()
  // The holder is still notified of a revocation over a connection: the notification needs no record, and the connection's DIDs stay.
  const isNotification = (body: string) =>
    connectionId !== undefined && JobBody.parse(JSON.parse(body)).protocol === revocationNotification.name
  await cancelJobs(
    tx,
    jobs.filter(({ body }) => !isNotification(body)).map((job) => job.id),
  )
}

async function mustNotHold(tx: Tx, record: CredentialRecord, leewaySeconds: number): Promise<void> {
  const place = await findPlace(tx, record.id)
  if (!place || place.revokedAt !== undefined || hasEnded(record, leewaySeconds)) return
  throw new Problem(
    issueCredential.problems.wrongState,
    `The record ${record.id} is of a credential that still holds, and without the record it could not be revoked. Revoke it first.`,
  )
}

function hasEnded({ credentialFormat, credential }: CredentialRecord, leewaySeconds: number): boolean {
  if (credential === undefined) return false
  const { validUntil } = issuanceFormats[credentialFormat].read(credential)
  return validUntil !== undefined && validUntil + leewaySeconds <= Date.now() / 1_000
}

/** A presentation that has been promised and is not made yet cannot be made without its credentials. */
async function mustNotBeNeeded(tx: Tx, recordId: string): Promise<void> {
  const pending = await tx
    .selectFrom('record')
    .select(['id', 'data'])
    .where('protocol', '=', presentProof.name)
    .where('state', '=', 'PresentationPending')
    .execute()
  const needing = pending.find(({ data }) =>
    PresentationData.shape.proofId.parse(JSON.parse(data).proofId)?.includes(recordId),
  )
  if (!needing) return
  throw new Problem(
    issueCredential.problems.wrongState,
    `The credential ${recordId} is being presented in ${needing.id}. Remove it afterwards, or remove the presentation first.`,
  )
}
