/** The holder's side: take an offer, accept it, keep the credential (service §3.2, §4.3). */
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import { createJwtVp } from '../../credentials/jwt-vp.ts'
import { verifyJwtVc } from '../../credentials/jwt-vc.ts'
import { getOwnDid } from '../../did-registrar/dids.ts'
import { getSigningKey } from '../../did-registrar/keys.ts'
import { canonicalDid } from '../../did/document.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { readToken, tokenAttachments } from '../attachments.ts'
import { findPeers, getPeers } from '../connection/peers.ts'
import { findByThread, getRecord } from '../find.ts'
import { isPast } from '../machine.ts'
import type { Handler } from '../receive.ts'
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
  if (await findByThread(wallet.db, issueCredential, 'Holder', thid)) {
    throw new Problem('error:CredentialServiceError:InvalidCredentialOffer', `The thread ${thid} has an offer already.`)
  }
  return (tx) => begin(tx, issueCredential, 'Holder', 'received offer', { thid, data })
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
  const { myDid, theirDid } = await getPeers(wallet.db, record.connectionId)
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
  const { from, to, thid } = message
  const [record, peers] = [await findByThread(wallet.db, issueCredential, 'Holder', thid), await findPeers(wallet.db, from, to)]
  if (!record || record.connectionId !== peers?.connectionId) {
    throw new Problem('error:CredentialServiceError:ThreadIdNotFound', `There is no request for the thread ${thid} on this connection.`)
  }
  const credential = readToken(message)
  const { issuer, subject } = await verify(wallet, record, credential)
  return async (tx) => {
    const received = await advanceByReply(tx, issueCredential, record.id, 'received credential', { credential })
    const row = { id: received.id, format: 'JWT', credential, issuer, subject, created_at: received.updatedAt! }
    await tx.insertInto('credential').values(row).execute()
  }
}

async function verify(wallet: Wallet, { subjectId }: CredentialRecord, token: string): Promise<{ issuer: string; subject: string }> {
  try {
    const { issuerDid: issuer, subjectDid: subject } = await verifyJwtVc(token, {
      resolve: wallet.env.resolver.document,
      now: Math.floor(Date.now() / 1_000),
      leewaySeconds: wallet.env.config.CREDENTIAL_LEEWAY,
      // Whether it is revoked matters when it is shown, not when it is received.
      verifyStatus: false,
    })
    if (subjectId === undefined || subject === undefined || canonicalDid(subject) !== canonicalDid(subjectId)) {
      throw new TypeError('its subject is not the DID that the offer was accepted with')
    }
    return { issuer, subject }
  } catch (error) {
    throw new Problem('error:CredentialServiceError:InvalidCredentialIssue', `The credential is not accepted: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}
