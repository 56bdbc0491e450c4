/** Rejects an offer. The protocol has no message for that: the issuer is not notified. */
import { advance } from '../../protocols/engine/record.ts'
import { issueCredential, type CredentialRecord } from '../../protocols/issue-credential/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getOffer } from './record.ts'

/** A second call changes nothing. @throws {Problem} in another state */
export function rejectOffer(wallet: Wallet, recordId: string): Promise<CredentialRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getOffer(tx, recordId)
    if (record.state === 'OfferRejected') return record
    return advance(tx, issueCredential, record, 'rejected offer', {})
  })
}
