/** The holder's side: take an offer, accept it, keep the credential (service §3.2, §4.3). */
import type { Selectable } from 'kysely'
import { Problem } from '../../base/problem.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { WalletTables } from '../../storage/wallet-tables.ts'
import { savePeerDid } from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { findPeers } from '../connection/peers.ts'
import { findByThread, getRecord } from '../engine/find.ts'
import { isPast } from '../engine/machine.ts'
import { toReport } from '../report-problem/model.ts'
import { alreadyReceived, openInvitation } from '../open-invitation.ts'
import { findRecordFor } from '../peers.ts'
import type { Handler, Received } from '../engine/receive.ts'
import { advance, advanceByReply, begin, mustStandBefore } from '../engine/record.ts'
import { isAccepted } from './acceptance.ts'
import type { Choice, NotAsOffered } from './format.ts'
import { formatOf } from './formats/index.ts'
import { readOffer, writeRequest } from './messages.ts'
import { issueCredential, type CredentialRecord } from './model.ts'
import { findIssuerMismatch } from './offered.ts'
import { checking, invalidIssue, toFailure } from './refusals.ts'
import { credentialStates } from './states.ts'

const accept = 'POST /issue-credentials/records/{recordId}/accept-offer'

/** An issuer offers a credential over a connection of this wallet. */
export const onOffer: Handler = async (wallet, message) => {
  const { from, to, thid } = message
  const peers = await findPeers(wallet.db, from, to)
  if (!peers)
    throw new Problem(
      'error:DIDCommControllerError:SenderNotAllowed',
      'The offer does not come over a connection of this wallet.',
    )
  const data = issueCredential.model.parse({ connectionId: peers.connectionId, ...readOffer(message) })
  return async (tx) => {
    if (await findByThread(tx, issueCredential, 'Holder', thid)) {
      throw new Problem(
        'error:CredentialServiceError:InvalidStateForOperation',
        `The thread ${thid} has an offer already.`,
      )
    }
    const on = (await isAccepted(tx, data)) ? 'received offer to accept' : 'received offer'
    return begin(tx, issueCredential, 'Holder', on, { thid, data })
  }
}

/** Takes the offer that an invitation carries. @throws {Problem} 400 when it is none, has expired, or was taken before. */
export async function takeOffer(wallet: Wallet, invitation: string): Promise<CredentialRecord> {
  const { recordId: id, thid, peer, sides, message } = await openInvitation(wallet, invitation, 'offer')
  const data = issueCredential.model.parse({ ...sides, ...readOffer(message) })
  return wallet.transaction(async (tx) => {
    if (await findByThread(tx, issueCredential, 'Holder', thid)) throw alreadyReceived('offer', thid)
    await savePeerDid(tx, wallet, peer, id)
    return begin(tx, issueCredential, 'Holder', 'received offer', { id, thid, data })
  })
}

/**
 * Accepts an offer: with a DID of the wallet, which the request proves to be the holder's, or, of AnonCreds, with the wallet's link secret.
 * A second call changes nothing.
 *
 * @throws {Problem} for a DID or a key that cannot be used, and in any other state.
 */
export async function acceptOffer(
  wallet: Wallet,
  recordId: string,
  choice: Choice,
): Promise<CredentialRecord> {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  if (isPast(credentialStates, record.role, accept, record.state)) return record
  mustStandBefore(issueCredential, record, accept)
  const { message, change } = await writeRequest(wallet, record, choice)
  return wallet.transaction(async (tx) => {
    const current = await getRecord(tx, issueCredential, recordId)
    return isPast(credentialStates, current.role, accept, current.state)
      ? current
      : advance(tx, issueCredential, current, accept, change, message)
  })
}

const insertCredential = prepared(
  (db: Db, { id, format, credential, issuer, subject, created_at }: Selectable<WalletTables['credential']>) =>
    db.insertInto('credential').values({ id, format, credential, issuer, subject, created_at }),
)

/** The issuer sends the credential. It is kept when it is the one that was offered, and its issuer has signed it; another one ends the flow. */
export const onCredential: Handler = async (wallet, message) => {
  const record = await findRecordFor(wallet.db, issueCredential, 'Holder', message)
  if (!record) {
    throw new Problem(
      'error:CredentialServiceError:ThreadIdNotFound',
      `There is no request for the thread ${message.thid} between these DIDs.`,
    )
  }
  const waitsIn = ['RequestPending', 'RequestSent'] as const
  const issued = await checking(wallet, record, waitsIn, () =>
    formatOf(record).verify(wallet, record, message),
  )
  if ('mismatch' in issued) return refuse(record, message, issued)
  const mismatch = findIssuerMismatch(record.trustedIssuers, issued.issuer)
  if (mismatch !== undefined) return refuse(record, message, { mismatch })
  const { credential, issuer, subject = null, change } = issued
  return async (tx) => {
    const received = await advanceByReply(tx, issueCredential, record.id, 'received credential', {
      credential,
      ...change,
    })
    const row = {
      id: received.id,
      format: record.credentialFormat,
      credential,
      issuer,
      subject,
      created_at: received.updatedAt!,
    }
    await insertCredential(tx, row)
  }
}

/** Ends the flow, and tells the issuer why. */
function refuse({ id }: CredentialRecord, { from, to, thid }: Received, { mismatch }: NotAsOffered) {
  const problem = invalidIssue(mismatch)
  const report = {
    type: 'problem-report' as const,
    from: to,
    to: from,
    pthid: thid,
    body: { ...toReport(problem) },
  }
  return (tx: Tx) =>
    advanceByReply(
      tx,
      issueCredential,
      id,
      'refused credential',
      { metaLastFailure: toFailure(problem) },
      report,
    )
}
