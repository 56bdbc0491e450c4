/** Accepts and rejects offers of DIDComm and of OpenID4VCI, whose records have the same operations. */
import { Problem } from '../../base/problem.ts'
import { getRecord } from '../../protocols/engine/find.ts'
import { advance } from '../../protocols/engine/record.ts'
import * as didcomm from '../../protocols/issue-credential/holder.ts'
import { issueCredential, type CredentialRecord } from '../../protocols/issue-credential/model.ts'
import type { AcceptCredentialOffer } from '../../protocols/issue-credential/offers.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getOffer, isReceivedOffer } from './record.ts'
import { acceptOffer } from './token.ts'

/** @throws {Problem} of the protocol of the offer */
export async function acceptAnyOffer(
  wallet: Wallet,
  recordId: string,
  { txCode, ...choice }: AcceptCredentialOffer,
): Promise<CredentialRecord> {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  if (isReceivedOffer(record)) return acceptOffer(wallet, recordId, { txCode, ...choice })
  if (txCode !== undefined)
    throw new Problem(
      'BadRequest',
      'txCode: leave it out. Only offers of OpenID4VCI have a transaction code.',
    )
  return didcomm.acceptOffer(wallet, recordId, choice)
}

/** @throws {Problem} of the protocol of the offer */
export async function rejectAnyOffer(wallet: Wallet, recordId: string): Promise<CredentialRecord> {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  return isReceivedOffer(record) ? rejectOffer(wallet, recordId) : didcomm.rejectOffer(wallet, recordId)
}

/** Rejects the offer of an issuer, which is not notified: the protocol has no message for that. A second call changes nothing. */
function rejectOffer(wallet: Wallet, recordId: string): Promise<CredentialRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getOffer(tx, recordId)
    if (record.state === 'OfferRejected') return record
    return advance(tx, issueCredential, record, 'rejected offer', {})
  })
}
