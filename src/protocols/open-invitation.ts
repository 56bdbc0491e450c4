/** Invitations that carry an offer or a request, as those have them who are invited (wire.md 2.3, api.md 4.7, 4.8). */
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import {
  type EmbeddedMessage,
  type OutOfBandInvitation,
  parseInvitation,
  readEmbedded,
  toInvitationUrl,
} from '../didcomm/invitation.ts'
import { findKnownType } from '../didcomm/message-type.ts'
import { peerDidsOnly } from '../didcomm/route.ts'
import { newPeerDid } from '../wallet/peer-dids.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { present } from './model.ts'
import { expired, hasExpired, invitationBase, purposes, type Invited, type Purpose } from './out-of-band.ts'
import type { Received } from './engine/receive.ts'

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
export function mustBeToConnect(invitation: OutOfBandInvitation): void {
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
