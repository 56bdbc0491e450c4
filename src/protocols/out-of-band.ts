/** Invitations that carry an offer or a request, as their maker has them: no connection is made for them (wire.md 2.3, api.md 4.7, 4.8). */
import { isOver } from '../base/clock.ts'
import { newId, randomId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { embedMessage, readEmbedded, type EmbeddedMessage } from '../didcomm/invitation.ts'
import {
  createInvitation,
  toInvitationUrl,
  parseInvitation,
  type OutOfBandInvitation,
} from '../didcomm/invitation.ts'
import type { Attachment } from '../didcomm/message.ts'
import { isPublicUrl } from '../net/public-url.ts'
import type { Tx } from '../storage/database.ts'
import { newPeerDid, type NewPeerDid } from '../wallet/peer-dids.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { issueCredential } from './issue-credential/model.ts'
import { present, type KeptInvitation } from './model.ts'
import { didcommOrgMessages, presentProof } from './present-proof/model.ts'
import { reasonOf } from '../base/reason.ts'
import { findKnownType } from '../didcomm/message-type.ts'
import { peerDidsOnly } from '../didcomm/route.ts'
import type { Received } from './engine/receive.ts'

/** The real agent's placeholder: wallets read what follows `_oob=` and ignore the rest (wire.md 2.2). */
export const invitationBase = 'https://my.domain.com/path'

/** Where the URLs of new invitations lead: to this agent's page of them, when a browser somewhere else can open that. */
export function newInvitationBase({ config: { REST_SERVICE_URL: url } }: Wallet['env']): string {
  return url !== undefined && isPublicUrl(url) ? `${url}/invitation` : invitationBase
}

type Accepted = {
  carries: readonly string[]
  accept: string
  errors: 'error:CredentialServiceError' | 'error:PresentationError'
}

/** What an invitation can carry: messages of which types, where it is accepted, and whose errors are answered there. */
export const purposes = {
  offer: {
    carries: [issueCredential.messages.offer],
    accept: 'POST /issue-credentials/credential-offers/accept-invitation',
    errors: 'error:CredentialServiceError',
  },
  request: {
    carries: [presentProof.messages.request, didcommOrgMessages.request],
    accept: 'POST /present-proof/presentations/accept-invitation',
    errors: 'error:PresentationError',
  },
} as const satisfies Record<string, Accepted>
export type Purpose = keyof typeof purposes

/** An invitation that was made or opened, and what its record begins with. */
export type Invited = {
  recordId: string
  thid: string
  /** Ours for this record alone; to be kept with it. */
  peer: NewPeerDid
  sides: { myDid: string; theirDid?: string; invitation: KeptInvitation }
}

/** What the inviter says, and for how long from now on an answer is taken. */
export type Terms = {
  goalCode: string | undefined
  goal: string | undefined
  lifetimeSeconds: number
  message: { type: string; body: Record<string, unknown>; attachments: Attachment[] }
}

/** Makes an invitation with a message in it; the invitation and the thread share one id. */
export function invite(wallet: Wallet, { goalCode, goal, lifetimeSeconds, message }: Terms): Invited {
  const peer = newPeerDid(wallet)
  const [thid, from] = [randomId(), peer.did]
  const createdTime = Math.floor(Date.now() / 1_000)
  const expiresTime = createdTime + lifetimeSeconds
  const attachments = [embedMessage(randomId(), { id: randomId(), ...message, thid, from })]
  const invitation = createInvitation({
    id: thid,
    from,
    goalCode,
    goal,
    accept: ['didcomm/v2'],
    createdTime,
    expiresTime,
    attachments,
  })
  const invitationUrl = toInvitationUrl(newInvitationBase(wallet.env), invitation)
  const kept = present({ id: thid, type: invitation.type, from, invitationUrl, goalCode, goal, expiresTime })
  return { recordId: newId(), thid, peer, sides: { myDid: from, invitation: kept } }
}

/**
 * Refuses an answer to an invitation that comes too late; `expire` marks the record, the first time.
 *
 * @throws {Problem} 400 `InvitationExpired`, so that the sender is told.
 */
export async function requireUnexpired(
  wallet: Wallet,
  purpose: Purpose,
  { thid, state, invitation }: { thid: string; state: string; invitation?: KeptInvitation | undefined },
  expire: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  if (invitation?.expiresTime === undefined) return
  const isLate = state === 'InvitationGenerated' && hasExpired(invitation.expiresTime)
  if (isLate) await wallet.transaction(expire)
  if (isLate || state === 'InvitationExpired') throw expired(purpose, thid, invitation.expiresTime)
}

/** True from the second on, an epoch second, at which an invitation expires. */
export function hasExpired(expiresTime: number): boolean {
  return isOver(expiresTime * 1_000)
}

/** The problem of an invitation that nobody can answer any more. */
export function expired(purpose: Purpose, id: string, expiresTime: number): Problem {
  const detail = `The invitation ${id} expired at ${new Date(expiresTime * 1_000).toISOString()}. Ask for a new one.`
  return new Problem(`${purposes[purpose].errors}:InvitationExpired`, detail)
}

/**
 * Reads an invitation that the wallet's owner accepts, and makes a DID to answer from. `message` is what the invitation carries,
 * as if it had been received at that DID.
 *
 * @throws {Problem} 400 when it cannot be read, is for something else (the right endpoint is named), or has expired.
 */
export async function openInvitation(
  wallet: Wallet,
  text: string,
  purpose: Purpose,
): Promise<Invited & { message: Received }> {
  const { invitation, oob } = read(text, purpose)
  const embedded = unwrap(invitation, purpose)
  const { id, type, from, body, expires_time: expiresTime } = invitation
  if (expiresTime !== undefined && hasExpired(expiresTime)) throw expired(purpose, id, expiresTime)
  await peerDidsOnly(wallet.env.resolver.document)(from)
  const peer = newPeerDid(wallet)
  const thid = embedded.thid ?? embedded.id
  const invitationUrl = toInvitationUrl(invitationBase, oob)
  const kept = present({
    id,
    type,
    from,
    invitationUrl,
    goalCode: body.goal_code,
    goal: body.goal,
    expiresTime,
  })
  const sides = { myDid: peer.did, theirDid: from, invitation: kept }
  return { recordId: newId(), thid, peer, sides, message: { ...embedded, from, to: peer.did, thid } }
}

/** The problem of an invitation that this wallet has accepted before. */
export function alreadyReceived(purpose: Purpose, thid: string): Problem {
  const detail = `The invitation of the thread ${thid} was accepted before. Ask for a new one: an invitation is accepted once.`
  return new Problem(`${purposes[purpose].errors}:InvitationAlreadyReceived`, detail)
}

/** Makes sure that an invitation carries neither an offer nor a request. @throws {Problem} 400 naming the endpoint that accepts it. */
export function requireConnectionInvitation(invitation: OutOfBandInvitation): void {
  const other = purposeOf(typeIn(invitation))
  if (!other) return
  const detail = `The invitation ${invitation.id} is not one to connect. Accept it with ${other.accept}.`
  throw new Problem('error:ConnectionServiceError:InvitationParsingError', detail)
}

/** What an invitation is for beside connecting, by the message that it carries; nothing when there is none that is known. */
export function purposeIn(invitation: OutOfBandInvitation): Purpose | undefined {
  const found = purposeOf(typeIn(invitation))
  return (Object.keys(purposes) as Purpose[]).find((purpose) => purposes[purpose] === found)
}

function typeIn(invitation: OutOfBandInvitation): string {
  try {
    return readEmbedded(invitation)?.type ?? ''
  } catch {
    // What cannot be read as an offer or a request does not keep two agents from connecting.
    return ''
  }
}

function purposeOf(type: string): (typeof purposes)[Purpose] | undefined {
  return Object.values(purposes).find(({ carries }) => findKnownType(carries, type) !== undefined)
}

function read(text: string, purpose: Purpose): ReturnType<typeof parseInvitation> {
  try {
    return parseInvitation(text)
  } catch (error) {
    throw error instanceof Problem ? unreadable(purpose, error.message, error) : error
  }
}

/** The message in an invitation that is for this purpose. */
function unwrap(invitation: OutOfBandInvitation, purpose: Purpose): EmbeddedMessage {
  let message: EmbeddedMessage | undefined
  try {
    message = readEmbedded(invitation)
  } catch (error) {
    throw unreadable(purpose, `The invitation cannot be read: ${reasonOf(error)}.`, error)
  }
  const { id } = invitation
  if (!message)
    throw unreadable(
      purpose,
      `The invitation ${id} carries no ${purpose}. Accept it with POST /connection-invitations.`,
    )
  const found = purposeOf(message.type)
  if (found === purposes[purpose]) return message
  const way = found ? `Accept it with ${found.accept}.` : 'This agent does not know messages of that type.'
  throw unreadable(
    purpose,
    `The invitation ${id} carries no ${purpose}, but a message of type ${message.type.slice(0, 200)}. ${way}`,
  )
}

function unreadable(purpose: Purpose, detail: string, cause?: unknown): Problem {
  return new Problem(`${purposes[purpose].errors}:InvitationParsingError`, detail, { cause })
}
