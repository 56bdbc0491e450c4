/**
 * Issuance and presentation over their transports, DIDComm and OpenID4VC. A record keeps the transport of its
 * offer or request; here its holder accepts and rejects that, whichever it is.
 */
import { openid4vci } from './oid4vci/holder/token.ts'
import { holderTasks } from './oid4vci/holder/credential.ts'
import { claimsOfOffer, issueRequested, requestClaims } from './oid4vci/deferred-claims.ts'
import { revokeCopiesTask, revokeUnconfirmed } from './oid4vci/old-copies.ts'
import { openid4vp } from './oid4vp/holder/answer.ts'
import { deliverRefusal } from './oid4vp/holder/response.ts'
import { getRecord } from './engine/find.ts'
import { isPast } from '../definitions/machine.ts'
import { advanceOnce, requireTransition } from './engine/record.ts'
import { issuanceOverDidcomm } from './issuance/holder.ts'
import { issueCredentialOf } from './issuance/issuer.ts'
import { issueCredential, type CredentialData, type CredentialRecord } from './issuance/model.ts'
import type { AcceptCredentialOffer } from './issuance/offers.ts'
import type { PresentationChange, PresentOptions } from './presentation/format.ts'
import { presentProof, type PresentationRecord } from './presentation/model.ts'
import { presentationOverDidcomm } from './presentation/prover.ts'
import type { Tx } from '../foundation/storage/database.ts'
import type { Task, Wallet } from '../wallet/wallet.ts'

/** What a holder does with an offer. */
type IssuanceTransport = {
  /** @throws {Problem} if the choices do not fit the offer, or in another state */
  accept(wallet: Wallet, record: CredentialRecord, choice: AcceptCredentialOffer): Promise<CredentialRecord>
  /** A second call changes nothing. @throws {Problem} in another state */
  reject(tx: Tx, record: CredentialRecord): Promise<CredentialRecord>
}

/** What a prover does with a request. */
type PresentationTransport = {
  /**
   * The change of the record that accepts the request.
   *
   * @throws {Problem} if the credentials cannot be presented
   */
  accept(wallet: Wallet, record: PresentationRecord, choice: PresentOptions): Promise<PresentationChange>
  /** A further write of the transaction that accepts the request. */
  onAccept?(tx: Tx, change: PresentationChange): Promise<unknown>
  /** The trigger and the change that reject the request. */
  decline(record: PresentationRecord): {
    on: 'request-reject' | 'request-decline'
    change: PresentationChange
  }
  /** The task after the acceptance. */
  deliver(wallet: Wallet, record: PresentationRecord): ReturnType<Task>
}

const transportOfOffer = ({ receivedOffer }: CredentialRecord): IssuanceTransport =>
  receivedOffer ? openid4vci : issuanceOverDidcomm

const transportOfRequest = ({ openid4vpRequest }: PresentationRecord): PresentationTransport =>
  openid4vpRequest ? openid4vp : presentationOverDidcomm

/** Accepts an offer. A second call changes nothing. @throws {Problem} 404; of the transport */
export async function acceptOffer(
  wallet: Wallet,
  recordId: string,
  choice: AcceptCredentialOffer,
): Promise<CredentialRecord> {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  return transportOfOffer(record).accept(wallet, record, choice)
}

/**
 * Issues the requested credential. A second call changes nothing.
 *
 * @param claims those of a credential whose claims source has not decided
 * @throws {Problem} 404; in another state, or if the issuer cannot sign; 400 for other claims
 */
export async function issueRequest(
  wallet: Wallet,
  recordId: string,
  claims: CredentialData['claims'] | undefined,
): Promise<CredentialRecord> {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  if (record.openid4vci) return issueRequested(wallet, record, claims)
  if (claims) throw claimsOfOffer()
  return issueCredentialOf(wallet, recordId)
}

/** Rejects an offer. A second call changes nothing. @throws {Problem} 404; of the transport */
export function rejectOffer(wallet: Wallet, recordId: string): Promise<CredentialRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    return transportOfOffer(record).reject(tx, record)
  })
}

/**
 * Accepts a request with credentials of the wallet. A second call changes nothing.
 *
 * @throws {Problem} 404; if the credentials cannot be presented, or in another state
 */
export async function acceptRequest(
  wallet: Wallet,
  id: string,
  choice: PresentOptions,
): Promise<PresentationRecord> {
  const record = await getRecord(wallet.db, presentProof, id)
  if (isPast(presentProof, record.role, 'request-accept', record.state)) return record
  requireTransition(presentProof, record, 'request-accept')
  const transport = transportOfRequest(record)
  const change = await transport.accept(wallet, record, choice)
  return wallet.transaction(async (tx) => {
    if (transport.onAccept) await transport.onAccept(tx, change)
    return advanceOnce(tx, presentProof, id, 'request-accept', change)
  })
}

/** Rejects a request. A second call changes nothing. @throws {Problem} 404; in another state */
export function rejectRequest(wallet: Wallet, id: string): Promise<PresentationRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, presentProof, id)
    const { on, change } = transportOfRequest(record).decline(record)
    return advanceOnce(tx, presentProof, id, on, change)
  })
}

/** The tasks that depend on the transport, or that only OpenID4VC has, by the names that jobs carry. */
export const transportTasks: Readonly<Record<string, Task>> = {
  async presentation(wallet, recordId) {
    const record = await getRecord(wallet.db, presentProof, recordId)
    return transportOfRequest(record).deliver(wallet, record)
  },
  refusal: deliverRefusal,
  ...holderTasks,
  'claims request': requestClaims,
  [revokeCopiesTask]: revokeUnconfirmed,
}
