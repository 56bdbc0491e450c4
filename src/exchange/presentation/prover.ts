/** The prover's side over DIDComm: receives a request, and answers it. */
import { Problem } from '../../foundation/problem.ts'
import { savePeerDid } from '../../wallet/peer-dids.ts'
import type { Task, Wallet } from '../../wallet/wallet.ts'
import { getSenderPeers, peersOf } from '../protocols/peers.ts'
import { findByThread, getRecord } from '../engine/find.ts'
import { takeNextCopies } from '../held-credentials/copies.ts'
import { alreadyReceived, openInvitation } from '../protocols/out-of-band.ts'
import type { Handler } from '../engine/receive.ts'
import { advance, begin } from '../engine/record.ts'
import { type PresentOptions, proofFormatOf } from './format.ts'
import { readRequest } from './messages.ts'
import { presentProof, type PresentationRecord } from './model.ts'
import { didcommOrgMessages } from '../../definitions/present-proof.ts'

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

/**
 * Accepts an invitation with a request.
 *
 * @throws {Problem} 400 if it carries none, has expired, or was accepted before
 */
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

/** DIDComm as a transport of presentations. Nothing is sent for a rejected request, as in the Cloud Agent. */
export const presentationOverDidcomm = {
  accept: (wallet: Wallet, record: PresentationRecord, choice: PresentOptions) =>
    proofFormatOf(record).choose(wallet, record, choice),
  decline: () => ({ on: 'request-reject' as const, change: {} }),
  deliver: makePresentation,
}

async function makePresentation(wallet: Wallet, record: PresentationRecord): ReturnType<Task> {
  const { id: recordId, goalCode, comment, isDidcommOrg } = record
  const { myDid, theirDid } = await peersOf(wallet.db, record)
  const presentation = await proofFormatOf(record).present(wallet, record)
  const body = { goal_code: goalCode, comment }
  const typeUri = isDidcommOrg ? didcommOrgMessages.presentation : undefined
  const attachments = proofFormatOf(record).attach(presentation)
  const message = { type: 'presentation' as const, typeUri, from: myDid, to: theirDid, body, attachments }
  return async (tx) => {
    const current = await getRecord(tx, presentProof, recordId)
    await takeNextCopies(tx, current.proofId ?? [])
    return advance(tx, presentProof, current, 'made', { data: [presentation] }, message)
  }
}
