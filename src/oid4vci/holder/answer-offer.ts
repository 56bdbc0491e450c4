/** OpenID4VCI as a transport of issuance: what a holder answers to the offer of an issuer. */
import { advance } from '../../protocols/engine/record.ts'
import { issueCredential, type CredentialRecord } from '../../protocols/issue-credential/model.ts'
import type { AcceptCredentialOffer } from '../../protocols/issue-credential/offers.ts'
import type { Tx } from '../../storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { OfferRecord } from './record.ts'
import { acceptOffer } from './token.ts'

export const openid4vci = {
  accept(wallet: Wallet, { id }: OfferRecord, choice: AcceptCredentialOffer): Promise<CredentialRecord> {
    return acceptOffer(wallet, id, choice)
  },

  /** The issuer is not notified: the protocol has no message for that. */
  async reject(tx: Tx, record: OfferRecord): Promise<CredentialRecord> {
    if (record.state === 'OfferRejected') return record
    return advance(tx, issueCredential, record, 'rejected offer', {})
  },
}
