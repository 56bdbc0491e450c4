/** The holder's side: take an offer, accept it, keep the credential (service §3.2, §4.3). */
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import { createJwtVp } from '../../credentials/jwt-vp.ts'
import { verifyJwtVc } from '../../credentials/jwt-vc.ts'
import { getOwnDid } from '../../did-registrar/dids.ts'
import { getSigningKey } from '../../did-registrar/keys.ts'
import { canonicalDid } from '../../did/document.ts'
import { keepPeerDid } from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { isTokensFault, readToken, tokenAttachments } from '../attachments.ts'
import { findPeers } from '../connection/peers.ts'
import { findByThread, getRecord } from '../find.ts'
import { isPast } from '../machine.ts'
import { alreadyReceived, openInvitation } from '../open-invitation.ts'
import { findRecordFor, peersOf } from '../peers.ts'
import type { Handler, Received } from '../receive.ts'
import { advance, advanceByReply, begin, mustStandBefore } from '../record.ts'
import { readOffer } from './messages.ts'
import { issueCredential, type AcceptCredentialOffer, type CredentialRecord } from './model.ts'
import { credentialStates } from './states.ts'

const accept = 'POST /issue-credentials/records/{recordId}/accept-offer'

/** An issuer offers a credential over a connection of this wallet. */
export const onOffer: Handler = async (wallet, message) => {
  const { from, to, thid } = message
  const peers = await findPeers(wallet.db, from, to)
  if (!peers)
    throw new Problem('error:DIDCommControllerError:SenderNotAllowed', 'The offer does not come over a connection of this wallet.')
  const data = issueCredential.model.parse({ connectionId: peers.connectionId, credentialFormat: 'JWT', ...readOffer(message) })
  return async (tx) => {
    if (await findByThread(tx, issueCredential, 'Holder', thid)) {
      throw new Problem('error:CredentialServiceError:InvalidStateForOperation', `The thread ${thid} has an offer already.`)
    }
    return begin(tx, issueCredential, 'Holder', 'received offer', { thid, data })
  }
}

/** Takes the offer that an invitation carries. @throws {Problem} 400 when it is none, has expired, or was taken before. */
export async function takeOffer(wallet: Wallet, invitation: string): Promise<CredentialRecord> {
  const { recordId: id, thid, peer, sides, message } = await openInvitation(wallet, invitation, 'offer')
  const data = issueCredential.model.parse({ ...sides, credentialFormat: 'JWT', ...readOffer(message) })
  return wallet.transaction(async (tx) => {
    if (await findByThread(tx, issueCredential, 'Holder', thid)) throw alreadyReceived('offer', thid)
    await keepPeerDid(tx, wallet, peer, id)
    return begin(tx, issueCredential, 'Holder', 'received offer', { id, thid, data })
  })
}

/**
 * Accepts an offer with a DID of the wallet, which the request proves to be the holder's; a second call changes nothing.
 *
 * @throws {Problem} for a DID or a key that cannot be used, and in any other state.
 */
export async function acceptOffer(
  wallet: Wallet,
  recordId: string,
  { subjectId, keyId }: AcceptCredentialOffer,
): Promise<CredentialRecord> {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  if (isPast(credentialStates, record.role, accept, record.state)) return record
  mustStandBefore(issueCredential, record, accept)
  const { myDid, theirDid } = await peersOf(wallet.db, record)
  const { longForm } = await getOwnDid(wallet.db, subjectId)
  const { privateJwk } = await getSigningKey(wallet, subjectId, 'authentication', keyId)
  const { domain: audience, challenge: nonce } = record
  const proof = createJwtVp({
    holderDid: longForm,
    holderKey: privateJwk,
    ...(keyId !== undefined && { kid: keyId }),
    audience,
    nonce,
    credentials: [],
  })
  const message = { type: 'request' as const, from: myDid, to: theirDid, body: {}, attachments: tokenAttachments(proof) }
  return wallet.transaction(async (tx) => {
    const current = await getRecord(tx, issueCredential, recordId)
    return isPast(credentialStates, current.role, accept, current.state)
      ? current
      : advance(tx, issueCredential, current, accept, { subjectId, keyId }, message)
  })
}

/** The issuer sends the credential: kept when it is what was asked for, and the issuer's DID vouches for it. */
export const onCredential: Handler = async (wallet, message) => {
  const record = await findRecordFor(wallet.db, issueCredential, 'Holder', message)
  if (!record) {
    throw new Problem(
      'error:CredentialServiceError:ThreadIdNotFound',
      `There is no request for the thread ${message.thid} between these DIDs.`,
    )
  }
  const { credential, issuer, subject } = await verify(wallet, record, message)
  return async (tx) => {
    const received = await advanceByReply(tx, issueCredential, record.id, 'received credential', { credential })
    const row = { id: received.id, format: 'JWT', credential, issuer, subject, created_at: received.updatedAt! }
    await tx.insertInto('credential').values(row).execute()
  }
}

type Verified = { credential: string; issuer: string; subject: string }

async function verify(wallet: Wallet, { subjectId }: CredentialRecord, message: Received): Promise<Verified> {
  try {
    const credential = readToken(message)
    const { issuerDid: issuer, subjectDid: subject } = await verifyJwtVc(credential, {
      resolve: wallet.env.resolver.document,
      now: Math.floor(Date.now() / 1_000),
      leewaySeconds: wallet.env.config.CREDENTIAL_LEEWAY,
      // Whether it is revoked matters when it is shown, not when it is received.
      verifyStatus: false,
    })
    if (subjectId === undefined || subject === undefined || canonicalDid(subject) !== canonicalDid(subjectId)) {
      throw new TypeError('its subject is not the DID that the offer was accepted with')
    }
    return { credential, issuer, subject }
  } catch (error) {
    if (!isTokensFault(error)) throw error
    throw new Problem('error:CredentialServiceError:InvalidCredentialIssue', `The credential is not accepted: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}
