/** Responses of wallets that were not accepted, in the log of messages and in the record. Accepted ones are states of the record. */
import { randomId } from '../base/id.ts'
import type { OAuthError } from '../oid4vci/oauth-error.ts'
import { logReceived } from '../outbox/message-log.ts'
import { getRecord } from '../protocols/engine/find.ts'
import { updateData } from '../protocols/engine/record.ts'
import { presentProof } from '../protocols/present-proof/model.ts'
import type { Wallet } from '../wallet/wallet.ts'

/** Stores why a response was refused, for the trace. The wallet may send a better one. */
export async function noteRefusal(wallet: Wallet, recordId: string, error: OAuthError): Promise<void> {
  const { code, status, message } = error
  const metaLastFailure = { status, type: code, title: code.replaceAll('_', ' '), detail: message }
  await wallet.transaction(async (tx) => {
    const record = await getRecord(tx, presentProof, recordId)
    const to = record.openid4vp?.clientId ?? ''
    const about = { id: randomId(), thread: record.thid, type: 'authorization-response', from: 'wallet', to }
    await logReceived(tx, about, { at: new Date(), refusal: `${code}: ${message}` })
    if (record.state === 'RequestCreated') await updateData(tx, record, { metaLastFailure })
  })
}
