/** Notifies the issuer of what became of its credential (VCI §11), if it wants that. */
import { isTemporary, Problem } from '../../../foundation/problem.ts'
import { updateData } from '../../engine/record.ts'
import { toDescription } from '../../../foundation/oauth/oauth-error.ts'
import type { Task } from '../../../wallet/wallet.ts'
import { post } from './caller.ts'
import { callerOf, getOffer, type OfferRecord, withCalls } from './record.ts'
import { openSecrets } from './secrets.ts'

function eventOf({ state, metaLastFailure, receivedOffer }: OfferRecord) {
  const { notificationId, refusedNotificationId, renewal } = receivedOffer
  const isRefused = notificationId === refusedNotificationId
  if (state === 'CredentialReceived' && !isRefused) return { event: 'credential_accepted' }
  const description = isRefused ? renewal?.reason : metaLastFailure?.detail
  return {
    event: 'credential_failure',
    ...(description !== undefined && { event_description: toDescription(description) }),
  }
}

/**
 * Task: notifies. An issuer that does not answer for as long as messages are repeated is not notified, and
 * neither is one that refuses.
 */
export const notifyIssuer: Task = async (wallet, recordId) => {
  const record = await getOffer(wallet.db, recordId)
  const { endpoints, notificationId, renewal } = record.receivedOffer
  const url = endpoints.notification
  if (url === undefined || notificationId === undefined) return () => Promise.resolve()
  const { accessToken, dpopKey } = openSecrets(wallet, record)
  const caller = callerOf(wallet, record)
  const json = { notification_id: notificationId, ...eventOf(record) }
  try {
    await post(caller, url, { json, accessToken: accessToken!, dpopKey })
  } catch (error) {
    const endsAtMs =
      Date.parse(renewal?.renewedAt ?? record.updatedAt!) + wallet.env.config.MESSAGE_RETRY_FOR * 1_000
    if (!(error instanceof Problem) || (isTemporary(error) && Date.now() < endsAtMs)) throw error
  }
  return async (tx) => {
    // It may have been renewed meanwhile.
    const current = await getOffer(tx, recordId)
    return updateData(tx, current, withCalls(current, caller))
  }
}
