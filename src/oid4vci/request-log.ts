/** Refused requests of wallets, in the log of messages. Accepted requests are states of the record. */
import { randomId } from '../base/id.ts'
import { logReceived } from '../outbox/message-log.ts'
import { getRecord } from '../protocols/engine/find.ts'
import { updateData } from '../protocols/engine/record.ts'
import { issueCredential, type CredentialRecord } from '../protocols/issue-credential/model.ts'
import type { Tx } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { OAuthError } from './oauth-error.ts'

/** The type of a request in the log. It has no DID of a sender. */
type RequestType = 'token-request' | 'credential-request'

/** Logs the error that the wallet got, for the trace. */
export function logRefusal(
  tx: Tx,
  { thid, issuingDID = '' }: Pick<CredentialRecord, 'thid' | 'issuingDID'>,
  type: RequestType,
  { code, message }: OAuthError,
): Promise<void> {
  const about = { id: randomId(), thread: thid, type, from: 'wallet', to: issuingDID }
  return logReceived(tx, about, { at: new Date(), refusal: `${code}: ${message}` })
}

/** Stores why a request was refused, for the trace. The wallet may send a better one. */
export async function noteRefusal(wallet: Wallet, recordId: string, error: OAuthError): Promise<void> {
  const title = error.code.replaceAll('_', ' ')
  const metaLastFailure = { status: error.status, type: error.code, title, detail: error.message }
  await wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    await logRefusal(tx, record, 'credential-request', error)
    if (record.state === 'OfferRedeemed') await updateData(tx, record, { metaLastFailure })
  })
}
