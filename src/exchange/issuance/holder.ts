/** The holder's side: receives, accepts or rejects an offer, and stores the credential. */
import type { Selectable } from 'kysely'
import { Problem, isTemporary } from '../../foundation/problem.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import { noteCount } from '../../foundation/storage/tx-context.ts'
import { savePeerDid } from '../../wallet/peer-dids.ts'
import type { Task, Wallet } from '../../wallet/wallet.ts'
import { findRecordFor, getSenderPeers, peersOf } from '../protocols/peers.ts'
import { findByThread, getRecord, findRecord } from '../engine/find.ts'
import { isPast } from '../../definitions/machine.ts'
import { problemReport, toReport } from '../protocols/report-problem.ts'
import { alreadyReceived, openInvitation } from '../protocols/out-of-band.ts'
import type { Handler, Received } from '../engine/receive.ts'
import {
  advance,
  advanceByReply,
  advanceOnce,
  begin,
  requireTransition,
  updateWithEvent,
} from '../engine/record.ts'
import { type AcceptOptions, type Mismatch, issuanceFormatOf } from './format.ts'
import { readOffer, writeRequest } from './messages.ts'
import { issueCredential, type CredentialRecord, type CredentialData } from './model.ts'
import type { AcceptCredentialOffer } from './offers.ts'
import { findIssuerMismatch, checkReply, invalidIssue, toFailure } from './refusals.ts'
import { credentialStates } from '../../definitions/issue-credential.ts'
import { canonicalDid } from '../../did/document.ts'
import { type AutomaticAcceptance, connection } from '../protocols/connection/model.ts'

const accept = 'POST /issue-credentials/records/{recordId}/accept-offer'

/** Handles an offer over a connection. */
export const onOffer: Handler = async (wallet, message) => {
  const { thid } = message
  const { connectionId } = await getSenderPeers(wallet.db, message)
  const data = issueCredential.model.parse({ connectionId, ...readOffer(message) })
  return async (tx) => {
    if (await findByThread(tx, issueCredential, 'Holder', thid)) {
      throw new Problem(
        'error:CredentialServiceError:InvalidStateForOperation',
        `The thread ${thid} has an offer already.`,
      )
    }
    const on = (await findAcceptance(tx, data)) ? 'received offer to accept' : 'received offer'
    return begin(tx, issueCredential, 'Holder', on, { thid, data })
  }
}

/**
 * Accepts an invitation with an offer.
 *
 * @throws {Problem} 400 if it carries none, has expired, or was accepted before
 */
export async function acceptOfferInvitation(wallet: Wallet, invitation: string): Promise<CredentialRecord> {
  const { recordId: id, thid, peer, sides, message } = await openInvitation(wallet, invitation, 'offer')
  const data = issueCredential.model.parse({ ...sides, ...readOffer(message) })
  return wallet.transaction(async (tx) => {
    if (await findByThread(tx, issueCredential, 'Holder', thid)) throw alreadyReceived('offer', thid)
    await savePeerDid(tx, wallet, peer, id)
    return begin(tx, issueCredential, 'Holder', 'received offer', { id, thid, data })
  })
}

/**
 * Accepts an offer. The request proves control of the subject's DID, or for AnonCreds contains the blinded
 * link secret. A second call changes nothing.
 *
 * @throws {Problem} if DID or key cannot be used, or in another state
 */
async function acceptOffer(
  wallet: Wallet,
  record: CredentialRecord,
  { txCode, ...choice }: AcceptCredentialOffer,
): Promise<CredentialRecord> {
  if (txCode !== undefined)
    throw new Problem(
      'BadRequest',
      'txCode: leave it out. Only offers of OpenID4VCI have a transaction code.',
    )
  if (isPast(credentialStates, record.role, accept, record.state)) return record
  requireTransition(issueCredential, record, accept)
  const { message, change } = await writeRequest(wallet, record, choice)
  return wallet.transaction((tx) => advanceOnce(tx, issueCredential, record.id, accept, change, message))
}

const insertCredential = prepared(
  (db: Db, { id, format, credential, issuer, subject, created_at }: Selectable<WalletTables['credential']>) =>
    db.insertInto('credential').values({ id, format, credential, issuer, subject, created_at }),
)

/**
 * Handles the credential. A credential that matches the offer is stored; a valid one that does not match ends
 * the flow.
 */
export const onCredential: Handler = async (wallet, message) => {
  const record = await findRecordFor(wallet.db, issueCredential, 'Holder', message)
  if (!record) {
    throw new Problem(
      'error:CredentialServiceError:ThreadIdNotFound',
      `There is no request for the thread ${message.thid} between these DIDs.`,
    )
  }
  const waitsIn = ['RequestPending', 'RequestSent'] as const
  const issued = await checkReply(wallet, record, waitsIn, () =>
    issuanceFormatOf(record).verify(wallet, record, message),
  )
  if ('mismatch' in issued) return refuse(record, message, issued)
  const mismatch = findIssuerMismatch(record.trustedIssuers, issued.issuer)
  if (mismatch !== undefined) return refuse(record, message, { mismatch })
  const { credential, issuer, subject = null, change } = issued
  return async (tx) => {
    const stored = { credential, ...change }
    const received = await advanceByReply(tx, issueCredential, record.id, 'received credential', stored)
    const { id, credentialFormat: format, updatedAt: created_at } = received
    noteCount(tx, 'agent_credentials_received_total', { format, result: 'accepted' })
    await insertCredential(tx, { id, format, credential, issuer, subject, created_at: created_at! })
  }
}

/** Ends the flow and reports the reason to the issuer. */
function refuse(
  { id, credentialFormat: format }: CredentialRecord,
  message: Received,
  { mismatch }: Mismatch,
) {
  const problem = invalidIssue(mismatch)
  const change = { metaLastFailure: toFailure(problem) }
  const reply = problemReport(message, toReport(problem)!)
  return (tx: Tx) => {
    noteCount(tx, 'agent_credentials_received_total', { format, result: 'refused' })
    return advanceByReply(tx, issueCredential, id, 'refused credential', change, reply)
  }
}

const reject = 'POST /issue-credentials/records/{recordId}/reject-offer'

/** The report to the issuer. Aries RFC 0453 calls the code `issuance-abandoned`. */
const report = { code: 'e.p.issuance-abandoned', comment: 'The holder declined the offer.' }

/**
 * Rejects an offer and enqueues a report to the issuer. A second call changes nothing.
 *
 * @throws {Problem} in another state, or if the connection cannot be used any more
 */
async function rejectOffer(tx: Tx, record: CredentialRecord): Promise<CredentialRecord> {
  if (isPast(credentialStates, record.role, reject, record.state)) return record
  requireTransition(issueCredential, record, reject)
  const { myDid: to, theirDid: from } = await peersOf(tx, record)
  const message = problemReport({ from, to, thid: record.thid }, report)
  // The failure of an automatic acceptance does not explain the end.
  return advance(tx, issueCredential, record, reject, { metaLastFailure: undefined }, message)
}

/** DIDComm as a transport of issuance: what a holder answers to an offer. */
export const issuanceOverDidcomm = { accept: acceptOffer, reject: rejectOffer }

/**
 * Accepts an offer by the settings of its connection, if it is unanswered and the settings still accept it.
 * After a permanent failure a person has to answer: the record stores the reason, and an event reports it.
 */
export const makeAcceptance: Task = async (wallet, recordId) => {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  const acceptance = isOpen(record) ? await findAcceptance(wallet.db, record) : undefined
  if (!acceptance) return () => Promise.resolve()
  const { subjectId, keyId, trustedIssuers } = acceptance
  const choice = issuanceFormatOf(record).choose({ subjectId, keyId, trustedIssuers })
  const outcome = await tryRequest(wallet, record, choice)
  const kept = { trustedIssuers: trustedIssuers?.map(canonicalDid) }
  return async (tx) => {
    const current = await getRecord(tx, issueCredential, recordId)
    if (!isOpen(current)) return
    if (outcome instanceof Problem)
      await updateWithEvent(tx, issueCredential, current, { metaLastFailure: automaticFailure(outcome) })
    else await advance(tx, issueCredential, current, 'made', { ...outcome.change, ...kept }, outcome.message)
  }
}

function isOpen({ state }: CredentialRecord): boolean {
  return state === 'OfferReceived'
}

async function findAcceptance(
  db: Db,
  { connectionId, credentialFormat, schemaIds }: CredentialData,
): Promise<AutomaticAcceptance | undefined> {
  const record = connectionId === undefined ? undefined : await findRecord(db, connection, connectionId)
  const acceptance = record?.automaticAcceptance
  if (!acceptance) return undefined
  const { credentialFormats: formats = [credentialFormat], schemaIds: schemas } = acceptance
  const isOfSchemas =
    schemas === undefined || (schemaIds.length > 0 && schemaIds.every((id) => schemas.includes(id)))
  return formats.includes(credentialFormat) && isOfSchemas ? acceptance : undefined
}

/** The request, or the reason why it is impossible. @throws if another attempt may succeed */
async function tryRequest(wallet: Wallet, record: CredentialRecord, choice: AcceptOptions) {
  try {
    return await writeRequest(wallet, record, choice)
  } catch (error) {
    if (error instanceof Problem && !isTemporary(error)) return error
    throw error
  }
}

function automaticFailure({ status, type, title, message: detail }: Problem) {
  return { status, type, title, detail: `The offer could not be accepted automatically: ${detail}` }
}
