/** The issuer's side: offers, verifies the holder's request, issues and revokes. */
import { randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { noteCount } from '../../foundation/storage/tx-context.ts'
import { savePeerDid } from '../../wallet/peer-dids.ts'
import type { Task, Wallet } from '../../wallet/wallet.ts'
import { getPeers, bindSender, findRecordFor, peersOf } from '../protocols/peers.ts'
import { getRecord } from '../engine/find.ts'
import { findRow } from '../../definitions/machine.ts'
import { createOnce } from '../engine/idempotency.ts'
import { invite, requireUnexpired } from '../protocols/out-of-band.ts'
import type { Handler } from '../engine/receive.ts'
import { advance, advanceByReply, advanceOnce, begin, updateWithEvent } from '../engine/record.ts'
import { problemReport, toReport } from '../protocols/report-problem.ts'
import { type IssuedMessage, issuanceFormatOf } from './format.ts'
import { writeOffer } from './messages.ts'
import { issueCredential, type CredentialRecord } from './model.ts'
import type { CreateCredentialOffer, InviteToOffer, OfferTerms } from './offers.ts'
import { checkReply, toFailure } from './refusals.ts'
import { credentialStates } from '../../definitions/issue-credential.ts'
import { revokeEntries } from '../../wallet/credential-status/lists.ts'
import { enqueueRevocation } from './revocation-notification.ts'

const inviteTrigger = 'POST /issue-credentials/credential-offers/invitation'
const issue = 'POST /issue-credentials/records/{recordId}/issue-credential'

/**
 * Offers a credential over a connection. A repeated request with the same idempotency key returns the first
 * offer.
 *
 * @throws {Problem} if DID, connection or claims cannot be used; like `createOnce`
 */
export function offerCredential(
  wallet: Wallet,
  offer: CreateCredentialOffer,
  key?: string,
): Promise<CredentialRecord> {
  return createOnce(wallet, issueCredential, { key, body: offer }, async ({ id, ...created }) => {
    const { connectionId } = offer
    const { myDid, theirDid } = await getPeers(wallet.db, connectionId)
    const { content, ...terms } = await prepare(wallet, offer)
    const data = issueCredential.model.parse({ connectionId, ...terms, ...created })
    const initial = { id, thid: randomId(), data }
    const message = { type: 'offer' as const, from: myDid, to: theirDid, ...content }
    return wallet.transaction((tx) =>
      begin(tx, issueCredential, 'Issuer', 'POST /issue-credentials/credential-offers', initial, message),
    )
  })
}

/**
 * Creates an invitation with an offer, for the first agent that answers it. A repeated request with the same
 * idempotency key returns the first invitation.
 *
 * @throws {Problem} if DID or claims cannot be used; like `createOnce`
 */
export function inviteToOffer(wallet: Wallet, body: InviteToOffer, key?: string): Promise<CredentialRecord> {
  return createOnce(wallet, issueCredential, { key, body }, async ({ id, ...created }) => {
    const { goalCode, goal, lifetimeSeconds = wallet.env.config.ISSUANCE_INVITATION_EXPIRY, ...offer } = body
    const { content, ...terms } = await prepare(wallet, offer)
    const message = { type: issueCredential.messages.offer, ...content }
    const { thid, peer, sides, shortId } = invite(wallet, { goalCode, goal, lifetimeSeconds, message })
    const data = issueCredential.model.parse({ ...terms, ...sides, ...created })
    const begun = { id, thid, data, shortId }
    return wallet.transaction(async (tx) => {
      await savePeerDid(tx, wallet, peer, id)
      return begin(tx, issueCredential, 'Issuer', inviteTrigger, begun)
    })
  })
}

/** The initial data of an offer's record, and the `content` of its message. */
async function prepare(wallet: Wallet, offered: OfferTerms) {
  const { terms, attachments } = await issuanceFormatOf(offered).offer(wallet, offered)
  const { claims, schemaIds } = { ...offered, ...terms }
  return { ...terms, content: writeOffer({ claims, schemaIds }, attachments) }
}

/**
 * Issues the requested credential. A second call changes nothing.
 *
 * @throws {Problem} in another state, or if the issuer cannot sign
 */
export async function issueCredentialOf(wallet: Wallet, recordId: string): Promise<CredentialRecord> {
  const asked = await getRecord(wallet.db, issueCredential, recordId)
  if (findRow(credentialStates, asked.role, asked.state, issue))
    await issuanceFormatOf(asked).checkIssuer?.(wallet, asked)
  return wallet.transaction((tx) => advanceOnce(tx, issueCredential, recordId, issue, {}))
}

/** Handles the holder's request and verifies its proof. */
export const onRequest: Handler = async (wallet, message) => {
  const record = await findRecordFor(wallet.db, issueCredential, 'Issuer', message, { mayAnswer: true })
  if (!record) {
    throw new Problem(
      'error:CredentialServiceError:ThreadIdNotFound',
      `There is no offer for the thread ${message.thid} between these DIDs.`,
    )
  }
  await requireUnexpired(wallet, 'offer', record, (tx) => advance(tx, issueCredential, record, 'expired', {}))
  // In InvitationGenerated a failure is not stored: any agent can answer the invitation.
  const waitsIn = ['OfferPending', 'OfferSent'] as const
  const proved = await checkReply(wallet, record, waitsIn, () =>
    issuanceFormatOf(record).readRequest(wallet, record, message),
  )
  return async (tx: Tx) => {
    const change = { ...proved, ...bindSender(message, record) }
    const received = await advanceByReply(tx, issueCredential, record.id, 'received request', change)
    if (record.automaticIssuance) await advance(tx, issueCredential, received, issue, {})
  }
}

/** Issues the credential and enqueues it, or a report if the request turns out to be invalid. */
export const makeCredential: Task = async (wallet, recordId) => {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  const { myDid, theirDid } = await peersOf(wallet.db, record)
  const made = await attempt(wallet, record)
  return async (tx) => {
    const current = await getRecord(tx, issueCredential, recordId)
    if (made instanceof Problem) {
      const change = { metaLastFailure: toFailure(made) }
      const report = problemReport({ from: theirDid, to: myDid, thid: record.thid }, toReport(made)!)
      return advance(tx, issueCredential, current, 'refused request', change, report)
    }
    const { credential, store, ...content } = made
    await store?.(tx)
    noteCount(tx, 'agent_credentials_issued_total', { format: record.credentialFormat })
    const message = { type: 'credential' as const, from: myDid, to: theirDid, body: {}, ...content }
    return advance(tx, issueCredential, current, 'made', { credential }, message)
  }
}

/** The credential, or the reason why it is impossible. @throws if another attempt may succeed */
async function attempt(wallet: Wallet, record: CredentialRecord): Promise<IssuedMessage | Problem> {
  try {
    return await issuanceFormatOf(record).issue(wallet, record)
  } catch (error) {
    if (error instanceof Problem && error.type === 'error:CredentialServiceError:InvalidCredentialRequest')
      return error
    throw error
  }
}

/**
 * Revokes all credentials of an issuer's record, permanently, and notifies the holder. A second call changes
 * nothing.
 *
 * @throws {Problem} 404 without a record, or without a credential with a status; 422 for a holder's record
 */
export async function revokeCredential(
  wallet: Wallet,
  recordId: string,
  onRevoked: (tx: Tx, record: CredentialRecord) => Promise<void>,
): Promise<void> {
  await wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    requireIssuer(record)
    const revoked = await revokeEntries(tx, recordId)
    if (!revoked) {
      throw new Problem(
        'error:CredentialStatusListError:StatusListNotFoundForIssueCredentialRecord',
        `The record ${recordId} is in ${record.state} and has no credential with a status that could be revoked.`,
      )
    }
    if (!revoked.isNew) return
    noteCount(tx, 'agent_credentials_revoked_total', { format: record.credentialFormat })
    await updateWithEvent(tx, issueCredential, record, { revocation: { at: revoked.revokedAt } })
    await onRevoked(tx, record)
    await notifyHolder(tx, record)
  })
}

/** @throws {Problem} 422 for a holder's record */
export function requireIssuer({ id, role }: CredentialRecord): void {
  if (role === 'Issuer') return
  throw new Problem(
    'error:CredentialStatusListError:InvalidRoleForOperation',
    `The record ${id} is of the role ${role}: only its issuer can revoke a credential.`,
  )
}

/**
 * Notifies the holder, if there still is a connection. A wallet of OpenID4VCI has no DID for messages: like
 * verifiers, it reads the status list.
 */
async function notifyHolder(tx: Tx, record: CredentialRecord): Promise<void> {
  if (record.connectionId === undefined && record.theirDid === undefined) return
  try {
    await enqueueRevocation(tx, record)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}
