/** Revocation Notification 1.0: the issuer notifies the holder that a credential is revoked. */
import { enqueue } from '../../wallet/outbox/job.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { issueCredential, type CredentialRecord } from './model.ts'
import { findRecordFor, peersOf, requireKnownSender } from '../protocols/peers.ts'
import type { Handler } from '../engine/receive.ts'
import { updateWithEvent } from '../engine/record.ts'
import { getRecord } from '../engine/find.ts'
import * as z from 'zod'

/**
 * Enqueues the notification of a revocation, after the record's other messages, which may include the
 * credential.
 */
export async function enqueueRevocation(tx: Tx, record: CredentialRecord, comment?: string): Promise<void> {
  const { myDid: from, theirDid: to } = await peersOf(tx, record)
  const body = { issueCredentialProtocolThreadId: record.thid, comment }
  const message = { type: revocationNotification.messages.revoke, body }
  const about = { protocol: revocationNotification.name, recordId: record.id }
  await enqueue(tx, `record:${record.id}`, { kind: 'message', ...about, from, to, message })
}

/**
 * Handles a notification: the first one is stored in the holder's record. Verifiers rely on the status list
 * instead.
 */
export const onRevoke: Handler = async (wallet, message) => {
  await requireKnownSender(wallet.db, message)
  const { data } = RevokeBody.safeParse(message.body)
  const record =
    data &&
    (await findRecordFor(wallet.db, issueCredential, 'Holder', {
      ...message,
      thid: data.issueCredentialProtocolThreadId,
    }))
  wallet.env.log.info(
    { walletId: wallet.id, recordId: record?.id, thid: message.thid },
    'the issuer says that a credential is revoked',
  )
  if (record?.state !== 'CredentialReceived') return () => Promise.resolve()
  return async (tx) => {
    const current = await getRecord(tx, issueCredential, record.id)
    const revocation = { at: new Date().toISOString(), comment: data?.comment ?? undefined }
    if (!current.revocation) await updateWithEvent(tx, issueCredential, current, { revocation })
  }
}

export const revocationNotification = {
  name: 'revocation-notification',
  messages: { revoke: 'https://atalaprism.io/revocation_notification/1.0/revoke' },
} as const

export const RevokeBody = z.looseObject({
  issueCredentialProtocolThreadId: z.string(),
  comment: z.string().max(10_000).nullish(),
})
