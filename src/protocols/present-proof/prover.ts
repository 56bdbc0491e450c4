/** The prover's side: take a request, prove with credentials of the wallet, or decline (service §3.3, §4.4). */
import { Problem } from '../../base/problem.ts'
import { canonicalDid } from '../../did/document.ts'
import { createJwtVp } from '../../credentials/jwt-vp.ts'
import { getOwnDid } from '../../did-registrar/dids.ts'
import { getSigningKey } from '../../did-registrar/keys.ts'
import type { Db } from '../../storage/database.ts'
import { keepPeerDid } from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Work } from '../../wallet/work.ts'
import { tokenAttachments } from '../attachments.ts'
import { findPeers } from '../connection/peers.ts'
import { findByThread, getRecord } from '../find.ts'
import { isPast } from '../machine.ts'
import { alreadyReceived, openInvitation } from '../open-invitation.ts'
import { peersOf } from '../peers.ts'
import type { Handler } from '../receive.ts'
import { advance, begin, mustStandBefore } from '../record.ts'
import { readRequest } from './messages.ts'
import { didcommOrgMessages, presentProof, type PresentationRecord } from './model.ts'
import { presentationStates } from './states.ts'

/** A verifier asks for a proof over a connection of this wallet. */
export const onRequest: Handler = async (wallet, message) => {
  const { from, to, thid } = message
  const peers = await findPeers(wallet.db, from, to)
  if (!peers)
    throw new Problem('error:DIDCommControllerError:SenderNotAllowed', 'The request does not come over a connection of this wallet.')
  const data = presentProof.model.parse({ connectionId: peers.connectionId, ...readRequest(message), data: [] })
  return async (tx) => {
    if (await findByThread(tx, presentProof, 'Prover', thid)) {
      throw new Problem('error:PresentationError:InvalidFlowStateError', `The thread ${thid} has a request already.`)
    }
    return begin(tx, presentProof, 'Prover', 'received request', { thid, data })
  }
}

/** Takes the request that an invitation carries. @throws {Problem} 400 when it is none, has expired, or was taken before. */
export async function takeRequest(wallet: Wallet, invitation: string): Promise<PresentationRecord> {
  const { recordId: id, thid, peer, sides, message } = await openInvitation(wallet, invitation, 'request')
  const data = presentProof.model.parse({ ...sides, ...readRequest(message), data: [] })
  return wallet.transaction(async (tx) => {
    if (await findByThread(tx, presentProof, 'Prover', thid)) throw alreadyReceived('request', thid)
    await keepPeerDid(tx, wallet, peer, id)
    return begin(tx, presentProof, 'Prover', 'received request', { id, thid, data })
  })
}

/**
 * Agrees to prove with credentials of the wallet, named by their record ids; a second call changes nothing.
 *
 * @throws {Problem} when a credential is not in the wallet, when they are about different subjects, and in any other state.
 */
export async function acceptRequest(wallet: Wallet, id: string, proofId: string[]): Promise<PresentationRecord> {
  const record = await getRecord(wallet.db, presentProof, id)
  if (isPast(presentationStates, record.role, 'request-accept', record.state)) return record
  mustStandBefore(presentProof, record, 'request-accept')
  await getSubject(wallet.db, proofId)
  return wallet.transaction(async (tx) => {
    const current = await getRecord(tx, presentProof, id)
    return isPast(presentationStates, current.role, 'request-accept', current.state)
      ? current
      : advance(tx, presentProof, current, 'request-accept', { proofId })
  })
}

/** Declines to prove; nothing is sent (api.md 4.8). @throws {Problem} in any other state. */
export function rejectRequest(wallet: Wallet, id: string): Promise<PresentationRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, presentProof, id)
    const isDone = isPast(presentationStates, record.role, 'request-reject', record.state)
    return isDone ? record : advance(tx, presentProof, record, 'request-reject', {})
  })
}

/** Makes the presentation (wire.md 5.2), signed by the subject of its credentials, and owes it to the verifier. */
export const makePresentation: Work = async (wallet, recordId) => {
  const record = await getRecord(wallet.db, presentProof, recordId)
  const { options, proofId, goalCode, comment, isDidcommOrg } = record
  const { myDid, theirDid } = await peersOf(wallet.db, record)
  const { subject, credentials } = await getSubject(wallet.db, proofId ?? [])
  const { longForm } = await getOwnDid(wallet.db, subject)
  const { privateJwk } = await getSigningKey(wallet, subject, 'authentication')
  const presentation = createJwtVp({
    holderDid: longForm,
    holderKey: privateJwk,
    audience: options.domain,
    nonce: options.challenge,
    credentials,
  })
  const body = { ...(goalCode !== undefined && { goal_code: goalCode }), ...(comment !== undefined && { comment }) }
  const typeUri = isDidcommOrg ? didcommOrgMessages.presentation : undefined
  const message = { type: 'presentation' as const, typeUri, from: myDid, to: theirDid, body, attachments: tokenAttachments(presentation) }
  return async (tx) => advance(tx, presentProof, await getRecord(tx, presentProof, recordId), 'made', { data: [presentation] }, message)
}

/** Credentials of the wallet and the one DID that all of them are about. */
async function getSubject(db: Db, proofId: string[]): Promise<{ subject: string; credentials: string[] }> {
  if (proofId.length === 0) throw new Problem('BadRequest', 'proofId is empty: name at least one credential record of this wallet.')
  const rows = await db.selectFrom('credential').selectAll().where('id', 'in', proofId).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const missing = proofId.find((id) => !byId.has(id))
  if (missing !== undefined) {
    throw new Problem(
      'error:PresentationError:IssuedCredentialNotFoundError',
      `proofId: this wallet holds no credential with the record id ${missing}.`,
    )
  }
  const subjects = new Set(rows.map(({ subject }) => canonicalDid(subject)))
  if (subjects.size !== 1)
    throw new Problem(
      'error:PresentationError:HolderBindingError',
      'proofId: the credentials are about different subjects and cannot be presented together.',
    )
  return { subject: rows[0]!.subject, credentials: proofId.map((id) => byId.get(id)!.credential) }
}
