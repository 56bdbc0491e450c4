/** The holder declines an offer (ours): the issuer is told, so that its record does not wait for ever. */
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { isPast } from '../engine/machine.ts'
import { peersOf } from '../peers.ts'
import { advance, mustStandBefore } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from './model.ts'
import { credentialStates } from './states.ts'

const reject = 'POST /issue-credentials/records/{recordId}/reject-offer'

/** What the issuer is told; the code is RFC 0453's word for it, as Report Problem 2.0 writes codes. */
const report = { code: 'e.p.issuance-abandoned', comment: 'The holder declined the offer.' }

/**
 * Declines an offer, for good, and owes the issuer a report of it; a second call changes nothing.
 *
 * @throws {Problem} in any other state, and when its connection cannot be used any more.
 */
export function rejectOffer(wallet: Wallet, recordId: string): Promise<CredentialRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    if (isPast(credentialStates, record.role, reject, record.state)) return record
    mustStandBefore(issueCredential, record, reject)
    const { myDid: from, theirDid: to } = await peersOf(tx, record)
    const message = { type: 'problem-report' as const, from, to, pthid: record.thid, body: report }
    return advance(tx, issueCredential, record, reject, {}, message)
  })
}
