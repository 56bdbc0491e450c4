/** The issuer's side: offer, take the holder's request, issue (service §3.2, §4.3). */
import { randomId } from '../../base/id.ts'
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import { pickPlace } from '../../credential-status/lists.ts'
import { decodeJws } from '../../credentials/jws.ts'
import { verifyHolderProof } from '../../credentials/jwt-vp.ts'
import { getOwnDid } from '../../did-registrar/dids.ts'
import type { Tx } from '../../storage/database.ts'
import { keepPeerDid } from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Work } from '../../wallet/work.ts'
import { isTokensFault, readToken, tokenAttachments } from '../attachments.ts'
import { getPeers } from '../connection/peers.ts'
import { getRecord } from '../find.ts'
import { isPast } from '../machine.ts'
import { invite, refuseLate } from '../out-of-band.ts'
import { boundBy, findRecordFor, peersOf } from '../peers.ts'
import type { Handler, Received } from '../receive.ts'
import { advance, advanceByReply, begin } from '../record.ts'
import { checkClaimsAgainst, checkFormat } from './claims.ts'
import { writeOffer } from './messages.ts'
import { issueCredential, type CreateCredentialOffer, type CredentialRecord, type InviteToOffer, type Offered } from './model.ts'
import { getIssuerKey, signCredential } from './sign.ts'
import { credentialStates } from './states.ts'

const issue = 'POST /issue-credentials/records/{recordId}/issue-credential'

/** Offers a credential over a connection. @throws {Problem} for a DID, a connection or claims that cannot be used. */
export async function offerCredential(wallet: Wallet, offer: CreateCredentialOffer): Promise<CredentialRecord> {
  const { connectionId } = offer
  const { myDid, theirDid } = await getPeers(wallet.db, connectionId)
  const { content, ...terms } = await prepare(wallet, offer)
  const data = issueCredential.model.parse({ connectionId, ...terms })
  const message = { type: 'offer' as const, from: myDid, to: theirDid, ...content }
  return wallet.transaction((tx) =>
    begin(tx, issueCredential, 'Issuer', 'POST /issue-credentials/credential-offers', { thid: randomId(), data }, message),
  )
}

/** Offers a credential to whoever answers an invitation first. @throws {Problem} for a DID or claims that cannot be used. */
export async function inviteToOffer(wallet: Wallet, { goalCode, goal, ...offer }: InviteToOffer): Promise<CredentialRecord> {
  const { content, ...terms } = await prepare(wallet, offer)
  const message = { type: issueCredential.messages.offer, ...content }
  const lifetimeSeconds = wallet.env.config.ISSUANCE_INVITATION_EXPIRY
  const { recordId: id, thid, peer, sides } = invite(wallet, { goalCode, goal, lifetimeSeconds, message })
  const data = issueCredential.model.parse({ ...terms, ...sides })
  return wallet.transaction(async (tx) => {
    await keepPeerDid(tx, wallet, peer, id)
    return begin(tx, issueCredential, 'Issuer', 'POST /issue-credentials/credential-offers/invitation', { id, thid, data })
  })
}

/** What an offer's record begins with, and `content`, what its message says. */
async function prepare(wallet: Wallet, { domain: wanted, ...offered }: Offered) {
  const { credentialFormat, claims, schemaIds } = offered
  checkFormat(offered)
  await getIssuerKey(wallet, offered)
  await checkClaimsAgainst(wallet.env, claims, schemaIds)
  const challenge = randomId()
  const domain = wanted ?? wallet.env.config.DEFAULT_JWT_VC_OFFER_DOMAIN
  const content = writeOffer({ credentialFormat, claims, schemaIds, challenge, domain })
  return { ...offered, challenge, domain, content }
}

/** Issues the credential that a holder has asked for; a second call changes nothing. @throws {Problem} in any other state. */
export function issueCredentialOf(wallet: Wallet, recordId: string): Promise<CredentialRecord> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    return isPast(credentialStates, record.role, issue, record.state) ? record : advance(tx, issueCredential, record, issue, {})
  })
}

/** The holder asks, and proves that the DID is the holder's (wire.md 4.2). */
export const onRequest: Handler = async (wallet, message) => {
  const record = await findRecordFor(wallet.db, issueCredential, 'Issuer', message, { mayAnswer: true })
  if (!record) {
    throw new Problem(
      'error:CredentialServiceError:ThreadIdNotFound',
      `There is no offer for the thread ${message.thid} between these DIDs.`,
    )
  }
  await refuseLate(wallet, 'offer', record, (tx) => advance(tx, issueCredential, record, 'expired', {}))
  const proved = await proveHolder(wallet, record, message)
  return async (tx: Tx) => {
    const change = { ...proved, ...boundBy(message, record) }
    const received = await advanceByReply(tx, issueCredential, record.id, 'received request', change)
    if (record.automaticIssuance) await advance(tx, issueCredential, received, issue, {})
  }
}

/**
 * Whose DID the holder has proved to have. An SD-JWT is bound to the key that proved it if the request names it by its bare id, as who is
 * asked for a key does. Wallets that write every `kid` as a DID URL have not been asked, and some of them could present nothing that is bound.
 */
async function proveHolder(
  wallet: Wallet,
  { credentialFormat, challenge, domain }: CredentialRecord,
  message: Received,
): Promise<Pick<CredentialRecord, 'holderDid' | 'holderKey'>> {
  try {
    const token = readToken(message)
    const { holderDid, key } = await verifyHolderProof(token, {
      resolve: wallet.env.resolver.document,
      audience: domain,
      nonce: challenge,
      now: Math.floor(Date.now() / 1_000),
      leewaySeconds: wallet.env.config.PRESENTATION_LEEWAY,
    })
    const { kid } = decodeJws(token).header
    const isBound = credentialFormat === 'SDJWT' && kid !== undefined && !kid.includes('#')
    return { holderDid, ...(isBound && { holderKey: key.publicKeyJwk }) }
  } catch (error) {
    if (!isTokensFault(error)) throw error
    throw new Problem(
      'error:CredentialServiceError:InvalidCredentialRequest',
      `The request does not prove its subject: ${reasonOf(error)}`,
      { cause: error },
    )
  }
}

/** Makes the credential and owes it to the holder. */
export const makeCredential: Work = async (wallet, recordId) => {
  const record = await getRecord(wallet.db, issueCredential, recordId)
  const { credentialFormat, issuingDID, holderDid } = record
  if (issuingDID === undefined || holderDid === undefined) throw new Error(`the record ${recordId} has no issuer or no holder`)
  const { myDid, theirDid } = await peersOf(wallet.db, record)
  const { did } = await getOwnDid(wallet.db, issuingDID)
  const place = await pickPlace(wallet, did)
  const credential = await signCredential(wallet, { ...record, issuingDID, holderDid }, place.status)
  const attachments = tokenAttachments(credential, credentialFormat)
  const message = { type: 'credential' as const, from: myDid, to: theirDid, body: {}, attachments }
  return async (tx) => {
    await place.keep(tx, recordId)
    return advance(tx, issueCredential, await getRecord(tx, issueCredential, recordId), 'made', { credential }, message)
  }
}
