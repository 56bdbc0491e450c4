/** Connections: invitation, request and response, and the changes that the API makes. */
import { isOver } from '../../../foundation/clock.ts'
import type { Config } from '../../../foundation/config/config.ts'
import { newId } from '../../../foundation/id.ts'
import { Problem } from '../../../foundation/problem.ts'
import { createInvitation as newInvitation, toInvitationUrl } from '../../didcomm/invitation.ts'
import { withoutNulls } from '../../../foundation/json.ts'
import { peerDidsOnly } from '../../../did/peer.ts'
import { savePeerDid, newPeerDid } from '../../../wallet/peer-dids.ts'
import { newShortLink } from '../../../wallet/short-links.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { createOnce } from '../../engine/idempotency.ts'
import { readBody, type Handler } from '../../engine/receive.ts'
import { findByThread, getRecord } from '../../engine/find.ts'
import type { Flow } from '../../engine/composition.ts'
import {
  requireConnectionInvitation,
  invitationBase,
  newInvitationBase,
  retrieveInvitation,
} from '../out-of-band.ts'
import { advance, advanceByReply, begin, updateData } from '../../engine/record.ts'
import {
  connection,
  RequestBody,
  type AcceptConnectionInvitation,
  type ConnectionRecord,
  type CreateConnection,
  type UpdateConnection,
  type AutomaticAcceptance,
} from './model.ts'
import { getManagedDid } from '../../../wallet/did-registrar/dids.ts'
import { getSigningKey } from '../../../wallet/did-registrar/keys.ts'

/**
 * Creates an invitation. Connection, thread and invitation have the same id. A repeated request with the same
 * idempotency key returns the first one.
 *
 * @throws {Problem} like `checkAcceptance` and `createOnce`
 */
export function createInvitation(
  wallet: Wallet,
  body: CreateConnection,
  key?: string,
): Promise<ConnectionRecord> {
  // The other side sees the id: it must be another one for each wallet, and nobody may guess the key.
  const request = { key, body, scope: `${wallet.id} ` }
  return createOnce(wallet, connection, request, async ({ id, ...created }) => {
    const { label, goalCode, goal, expiresIn, automaticAcceptance } = body
    await checkAcceptance(wallet, automaticAcceptance)
    const peer = newPeerDid(wallet)
    const createdTime = Math.floor(Date.now() / 1_000)
    const expiresTime = createdTime + (expiresIn ?? wallet.env.config.CONNECT_INVITATION_EXPIRY)
    const times = expiresIn === undefined ? {} : { createdTime, expiresTime }
    const invitation = newInvitation({ id, from: peer.did, goalCode, goal, ...times })
    const { shortId, shortUrl } = newShortLink(wallet)
    const stored = {
      id,
      type: invitation.type,
      from: peer.did,
      invitationUrl: toInvitationUrl(newInvitationBase(wallet.env), invitation),
      shortUrl,
      expiresTime,
    }
    const terms = { label, goalCode, goal, invitation: stored, automaticAcceptance }
    const data = connection.model.parse({ ...terms, ...created })
    return wallet.transaction(async (tx) => {
      await savePeerDid(tx, wallet, peer, id)
      return begin(tx, connection, 'Inviter', 'POST /connections', { id, thid: id, data, shortId })
    })
  })
}

/**
 * Accepts an invitation: one transaction creates the record and enqueues the connection request.
 *
 * @throws {Problem} `InvitationParsingError`, `RetrievalFailed`, `InvitationExpired`,
 * `InvitationAlreadyReceived`; like `checkAcceptance`
 */
export async function acceptInvitation(
  wallet: Wallet,
  { invitation: text, label, automaticAcceptance }: AcceptConnectionInvitation,
): Promise<ConnectionRecord> {
  const { invitation, oob } = await retrieveInvitation(wallet, text)
  requireConnectionInvitation(invitation)
  const { id: thid, type, from, expires_time } = invitation
  const { goal_code, goal, accept } = invitation.body
  if (expires_time !== undefined && isOver(expires_time * 1_000)) {
    throw new Problem(
      'error:ConnectionServiceError:InvitationExpired',
      `The invitation ${thid} has expired. Ask for a new one.`,
    )
  }
  await checkAcceptance(wallet, automaticAcceptance)
  await requireResolvable(wallet, from)
  const peer = newPeerDid(wallet)
  const id = newId()
  return wallet.transaction(async (tx) => {
    if (await findByThread(tx, connection, 'Invitee', thid)) {
      throw new Problem(
        'error:ConnectionServiceError:InvitationAlreadyReceived',
        `The invitation ${thid} was accepted before. Ask for a new one: an invitation connects once.`,
      )
    }
    await savePeerDid(tx, wallet, peer, id)
    const data = connection.model.parse({
      label,
      goalCode: goal_code,
      goal,
      invitation: { id: thid, type, from, invitationUrl: `${invitationBase}?_oob=${oob}` },
      automaticAcceptance,
    })
    const dids = { myDid: peer.did, theirDid: from }
    const body = { goal_code, goal, accept }
    const request = { type: 'request' as const, from: peer.did, to: from, pthid: thid, body }
    const next = { on: 'POST /connection-invitations' as const, change: dids, message: request }
    return begin(tx, connection, 'Invitee', 'received invitation', { id, thid, data, next })
  })
}

/** Checks that the inviter's DID resolves. @throws {Problem} `InvitationParsingError` */
async function requireResolvable(wallet: Wallet, from: string): Promise<void> {
  try {
    await peerDidsOnly(wallet.env.resolver.document)(from)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const detail = `The inviter's DID does not resolve: ${error.message}.`
    throw new Problem('error:ConnectionServiceError:InvitationParsingError', detail, { cause: error })
  }
}

/**
 * Inviter: handles a connection request. An invitation connects once, with the first sender, before it
 * expires.
 */
export const onRequest: Handler = async (wallet, message) => {
  const { from, to, thid } = message
  const record = await findByThread(wallet.db, connection, 'Inviter', thid)
  if (record?.invitation.from !== to) throw unknownThread(thid)
  const expiresAt = invitationExpiryOf(record, wallet.env.config)
  if (record.state === 'InvitationGenerated' && isOver(expiresAt)) {
    throw new Problem(
      'error:ConnectionServiceError:InvitationExpired',
      `The invitation ${thid} expired at ${new Date(expiresAt).toISOString()}.`,
    )
  }
  if (record.theirDid !== undefined && record.theirDid !== from) {
    const detail = `The invitation ${thid} was answered by another agent. Ask for a new one: an invitation connects once.`
    throw new Problem('error:ConnectionServiceError:InvitationAlreadyReceived', detail)
  }
  const body = withoutNulls(readBody(message, RequestBody, 'connection request'))
  return async (tx) => {
    const dids = { myDid: to, theirDid: from }
    const received = await advanceByReply(tx, connection, record.id, 'received request', dids)
    const response = { type: 'response' as const, from: to, to: from, pthid: thid, body }
    await advance(tx, connection, received, 'accept', {}, response)
  }
}

/** The time from which an invitation to connect is not answered any more, in milliseconds. */
export function invitationExpiryOf(
  { createdAt, invitation: { expiresTime } }: Pick<ConnectionRecord, 'createdAt' | 'invitation'>,
  { CONNECT_INVITATION_EXPIRY: seconds }: Pick<Config, 'CONNECT_INVITATION_EXPIRY'>,
): number {
  return expiresTime === undefined ? Date.parse(createdAt) + seconds * 1_000 : expiresTime * 1_000
}

/** Invitee: handles the connection response. */
export const onResponse: Handler = async (wallet, { from, to, thid }) => {
  const record = await findByThread(wallet.db, connection, 'Invitee', thid)
  if (record?.theirDid !== from || record.myDid !== to) throw unknownThread(thid)
  return (tx) => advanceByReply(tx, connection, record.id, 'received response', {})
}

function unknownThread(thid: string): Problem {
  return new Problem(
    'error:ConnectionServiceError:ThreadIdNotFound',
    `There is no connection for the thread ${thid} between these DIDs.`,
  )
}

/**
 * Changes the label of a connection, and which offers over it are accepted automatically from now on. It
 * emits no event, and offers that have been received already still wait for an answer.
 *
 * @throws {Problem} 404; like `checkAcceptance`
 */
export async function updateConnection(
  wallet: Wallet,
  id: string,
  { label, automaticAcceptance }: UpdateConnection,
): Promise<ConnectionRecord> {
  await getRecord(wallet.db, connection, id)
  await checkAcceptance(wallet, automaticAcceptance?.acceptance)
  const change = {
    ...(label !== undefined && { label: label || undefined }),
    ...(automaticAcceptance && { automaticAcceptance: automaticAcceptance.acceptance }),
  }
  return wallet.transaction(async (tx) => {
    await updateData(tx, await getRecord(tx, connection, id), change)
    return getRecord(tx, connection, id)
  })
}

/**
 * Checks the DID and the key of an automatic acceptance, like `accept-offer`.
 *
 * @throws {Problem} 400 or 404 if they cannot be used
 */
export async function checkAcceptance(
  wallet: Wallet,
  automaticAcceptance: AutomaticAcceptance | undefined,
): Promise<void> {
  if (!automaticAcceptance) return
  const { subjectId, keyId } = automaticAcceptance
  if (subjectId === undefined) return
  await getManagedDid(wallet.db, subjectId)
  await getSigningKey(wallet, subjectId, 'authentication', keyId)
}

export const connectionFlow: Flow = {
  protocol: connection,
  handlers: {
    [connection.messages.request]: onRequest,
    [connection.messages.response]: onResponse,
  },
}
