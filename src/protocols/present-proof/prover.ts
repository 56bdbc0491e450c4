/** The prover's side: receives a request, and accepts or rejects it. */
import { Problem } from '../../base/problem.ts'
import { savePeerDid } from '../../wallet/peer-dids.ts'
import type { Task, Wallet } from '../../wallet/wallet.ts'
import { getSenderPeers, peersOf } from '../peers.ts'
import { findByThread, getRecord } from '../engine/find.ts'
import { isPast } from '../engine/machine.ts'
import { takeNextCopies } from '../credential-copies.ts'
import { alreadyReceived, openInvitation } from '../out-of-band.ts'
import type { Handler } from '../engine/receive.ts'
import { advance, advanceOnce, begin, requireTransition } from '../engine/record.ts'
import { type PresentOptions, formatOf } from './format.ts'
import { answerRequest } from './openid4vp-answer.ts'
import { declineChange, deliverResponse, hasRequest } from './openid4vp-response.ts'
import { readRequest } from './messages.ts'
import { didcommOrgMessages, presentProof, type PresentationRecord } from './model.ts'
import { presentationStates } from './states.ts'

/** Handles a request over a connection. */
export const onRequest: Handler = async (wallet, message) => {
  const { thid } = message
  const { connectionId } = await getSenderPeers(wallet.db, message)
  const data = presentProof.model.parse({ connectionId, ...readRequest(message), data: [] })
  return async (tx) => {
    if (await findByThread(tx, presentProof, 'Prover', thid)) {
      throw new Problem(
        'error:PresentationError:InvalidFlowStateError',
        `The thread ${thid} has a request already.`,
      )
    }
    return begin(tx, presentProof, 'Prover', 'received request', { thid, data })
  }
}

/** Accepts an invitation with a request. @throws {Problem} 400 if it carries none, has expired, or was accepted before */
export async function acceptRequestInvitation(
  wallet: Wallet,
  invitation: string,
): Promise<PresentationRecord> {
  const { recordId: id, thid, peer, sides, message } = await openInvitation(wallet, invitation, 'request')
  const data = presentProof.model.parse({ ...sides, ...readRequest(message), data: [] })
  return wallet.transaction(async (tx) => {
    if (await findByThread(tx, presentProof, 'Prover', thid)) throw alreadyReceived('request', thid)
    await savePeerDid(tx, wallet, peer, id)
    return begin(tx, presentProof, 'Prover', 'received request', { id, thid, data })
  })
}

/**
 * Accepts a request with credentials of the wallet. A second call changes nothing.
 *
 * @throws {Problem} if the credentials cannot be presented, or in another state
 */
export async function acceptRequest(
  wallet: Wallet,
  id: string,
  choice: PresentOptions,
): Promise<PresentationRecord> {
  const record = await getRecord(wallet.db, presentProof, id)
  if (isPast(presentationStates, record.role, 'request-accept', record.state)) return record
  requireTransition(presentProof, record, 'request-accept')
  const change = hasRequest(record)
    ? await answerRequest(wallet, record, choice)
    : await formatOf(record).choose(wallet, record, choice)
  return wallet.transaction(async (tx) => {
    // Over OpenID4VP, the presentations are made with the consent.
    if (hasRequest(record)) await takeNextCopies(tx, change.proofId ?? [])
    return advanceOnce(tx, presentProof, id, 'request-accept', change)
  })
}

/** Rejects a request. Over DIDComm nothing is sent, as in the Cloud Agent. @throws {Problem} in another state */
export function rejectRequest(wallet: Wallet, id: string): Promise<PresentationRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, presentProof, id)
    return hasRequest(record)
      ? advanceOnce(tx, presentProof, id, 'request-decline', declineChange(record))
      : advanceOnce(tx, presentProof, id, 'request-reject', {})
  })
}

/** Creates the presentation and enqueues it. Over OpenID4VP, delivers it. */
export const makePresentation: Task = async (wallet, recordId) => {
  const record = await getRecord(wallet.db, presentProof, recordId)
  if (hasRequest(record)) return deliverResponse(wallet, record)
  const { goalCode, comment, isDidcommOrg } = record
  const { myDid, theirDid } = await peersOf(wallet.db, record)
  const presentation = await formatOf(record).present(wallet, record)
  const body = { goal_code: goalCode, comment }
  const typeUri = isDidcommOrg ? didcommOrgMessages.presentation : undefined
  const attachments = formatOf(record).attach(presentation)
  const message = { type: 'presentation' as const, typeUri, from: myDid, to: theirDid, body, attachments }
  return async (tx) => {
    const current = await getRecord(tx, presentProof, recordId)
    await takeNextCopies(tx, current.proofId ?? [])
    return advance(tx, presentProof, current, 'made', { data: [presentation] }, message)
  }
}
