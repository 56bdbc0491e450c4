/** The notification endpoint (VCI §11): the wallet says what became of a credential. */
import * as z from 'zod'
import { firstFault } from '../../foundation/faults.ts'
import { findRecord } from '../engine/find.ts'
import { updateWithEvent } from '../engine/record.ts'
import { issueCredential } from '../issuance/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { authorize, type Presented } from './access-token.ts'
import type { IssuerRow } from './issuers.ts'
import { revokeOldCopies } from './old-copies.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'

export const NotificationRequest = z
  .looseObject({
    notification_id: z.string(),
    event: z.enum(['credential_accepted', 'credential_failure', 'credential_deleted']),
    event_description: z
      .string()
      .regex(
        /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,1000}$/,
        'is not 1 to 1000 ASCII characters without quotation mark and backslash',
      )
      .optional(),
  })
  .meta({ id: 'NotificationRequest' })

/** The notifications of one credential that are stored. A wallet has three kinds to send. */
const maxNotifications = 10

/**
 * Stores the notification with the record, and emits an event. A repeated one changes nothing.
 *
 * @throws {OAuthError} `invalid_notification_request`, `invalid_notification_id`
 */
export async function receiveNotification(
  wallet: Wallet,
  issuer: IssuerRow,
  { body, ...presented }: Presented & { body: unknown },
): Promise<void> {
  const { recordIds, isOver, refreshed } = await authorize(wallet, issuer, 'notifications', presented)
  const parsed = NotificationRequest.safeParse(body)
  if (!parsed.success) throw new OAuthError('invalid_notification_request', firstFault(parsed.error))
  const { notification_id: id, event, event_description: description } = parsed.data
  await wallet.transaction(async (tx) => {
    const record = recordIds.includes(id) ? await findRecord(tx, issueCredential, id) : undefined
    // A token whose short time is over is for a credential that was deferred.
    if (record?.state !== 'CredentialSent' || (isOver && !record.requestedKeys))
      throw new OAuthError(
        'invalid_notification_id',
        'The access token is not for the credential of this notification_id.',
      )
    const { notification: last, notifications = 0 } = record
    if (last?.event === event && last.description === description) return
    if (notifications >= maxNotifications)
      throw new OAuthError(
        'invalid_notification_request',
        `The credential has had ${maxNotifications} notifications. Further ones are not stored.`,
      )
    const notification = { event, description, at: new Date().toISOString() }
    await updateWithEvent(tx, issueCredential, record, { notification, notifications: notifications + 1 })
    // A late notification of the old copies has the token that was before.
    const isOfNewest = refreshed !== undefined && refreshed === record.renewed?.token
    if (event === 'credential_accepted' && isOfNewest) await revokeOldCopies(tx, record.id)
  })
}
