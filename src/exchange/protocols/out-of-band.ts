/**
 * Out-of-band invitations that carry an offer or a request: creates them, opens them and checks their expiry.
 * They need no connection.
 */
import { isOver } from '../../foundation/clock.ts'
import { newId, randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import {
  createInvitation,
  embedMessage,
  parseInvitation,
  readEmbedded,
  readInvitation,
  toInvitationUrl,
  type EmbeddedMessage,
  type OutOfBandInvitation,
} from '../didcomm/invitation.ts'
import { findKnownType } from '../didcomm/message-type.ts'
import type { Attachment } from '../didcomm/message.ts'
import { peerDidsOnly } from '../../did/peer.ts'
import { isPublicUrl } from '../../foundation/net/public-url.ts'
import { findShortUrl } from '../../foundation/net/short-url.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { newPeerDid, type NewPeerDid } from '../../wallet/peer-dids.ts'
import { newShortLink } from '../../wallet/short-links.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Received } from '../engine/receive.ts'
import { credentialMessages } from '../../definitions/issue-credential.ts'
import type { StoredInvitation } from './model.ts'
import { didcommOrgMessages, presentationMessages } from '../../definitions/present-proof.ts'

/** The base URL that the Cloud Agent uses. Wallets read the parameter `_oob` and ignore the rest. */
export const invitationBase = 'https://my.domain.com/path'

/** The base URL of new invitations: this agent's page for invitations, if it has a public URL. */
export function newInvitationBase({ config: { REST_SERVICE_URL: url } }: Wallet['env']): string {
  return url !== undefined && isPublicUrl(url) ? `${url}/invitation` : invitationBase
}

type ReadInvitation = ReturnType<typeof parseInvitation>

type Accepted = {
  carries: readonly string[]
  accept: string
  errors: 'error:CredentialServiceError' | 'error:PresentationError'
}

/**
 * By purpose: the types of messages that an invitation carries, the endpoint that accepts it, and the prefix
 * of its errors.
 */
export const purposes = {
  offer: {
    carries: [credentialMessages.offer],
    accept: 'POST /issue-credentials/credential-offers/accept-invitation',
    errors: 'error:CredentialServiceError',
  },
  request: {
    carries: [presentationMessages.request, didcommOrgMessages.request],
    accept: 'POST /present-proof/presentations/accept-invitation',
    errors: 'error:PresentationError',
  },
} as const satisfies Record<string, Accepted>
export type Purpose = keyof typeof purposes

/** A created or opened invitation, and the initial data of its record. */
export type Invited = {
  thid: string
  /** The wallet's DID for this record, to be saved with it. */
  peer: NewPeerDid
  sides: { myDid: string; theirDid?: string; invitation: StoredInvitation }
}

/** The content of an invitation, and how long it may be answered. */
export type Terms = {
  goalCode: string | undefined
  goal: string | undefined
  lifetimeSeconds: number
  message: { type: string; body: Record<string, unknown>; attachments: Attachment[] }
}

/**
 * Creates an invitation by `peer` with an embedded message. The invitation and the thread have the same id.
 * `shortId` is to be saved with the record.
 */
export function invite(
  wallet: Wallet,
  { goalCode, goal, lifetimeSeconds, message }: Terms,
  peer = newPeerDid(wallet),
): Invited & { shortId: string } {
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
  const { shortId, shortUrl } = newShortLink(wallet)
  const { type } = invitation
  const stored = { id: thid, type, from, invitationUrl, shortUrl, goalCode, goal, expiresTime }
  return { thid, peer, sides: { myDid: from, invitation: stored }, shortId }
}

/**
 * Refuses an answer to an expired invitation. `expire` marks the record the first time.
 *
 * @throws {Problem} 400 `InvitationExpired`, which is reported to the sender
 */
export async function requireUnexpired(
  wallet: Wallet,
  purpose: Purpose,
  { thid, state, invitation }: { thid: string; state: string; invitation?: StoredInvitation | undefined },
  expire: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  if (invitation?.expiresTime === undefined) return
  const isLate = state === 'InvitationGenerated' && hasExpired(invitation.expiresTime)
  if (isLate) await wallet.transaction(expire)
  if (isLate || state === 'InvitationExpired') throw expired(purpose, thid, invitation.expiresTime)
}

/** Whether an invitation has expired; `expiresTime` is in epoch seconds. */
export function hasExpired(expiresTime: number): boolean {
  return isOver(expiresTime * 1_000)
}

/** The problem of an expired invitation. */
export function expired(purpose: Purpose, id: string, expiresTime: number): Problem {
  const detail = `The invitation ${id} expired at ${new Date(expiresTime * 1_000).toISOString()}. Ask for a new one.`
  return new Problem(`${purposes[purpose].errors}:InvitationExpired`, detail)
}

/**
 * Opens an invitation that the tenant accepts, and creates a DID to answer from. `message` is the embedded
 * message, as if that DID had received it.
 *
 * @throws {Problem} 400 if it is malformed, has another purpose (the error names the right endpoint) or has
 * expired
 */
export async function openInvitation(
  wallet: Wallet,
  text: string,
  purpose: Purpose,
): Promise<Invited & { recordId: string; message: Received }> {
  const { invitation, oob } = await read(wallet, text, purpose)
  const embedded = unwrap(invitation, purpose)
  const { id, type, from, expires_time: expiresTime } = invitation
  const { goal_code: goalCode, goal } = invitation.body
  if (expiresTime !== undefined && hasExpired(expiresTime)) throw expired(purpose, id, expiresTime)
  await peerDidsOnly(wallet.env.resolver.document)(from)
  const peer = newPeerDid(wallet)
  const thid = embedded.thid ?? embedded.id
  const invitationUrl = toInvitationUrl(invitationBase, oob)
  const stored = { id, type, from, invitationUrl, goalCode, goal, expiresTime }
  const sides = { myDid: peer.did, theirDid: from, invitation: stored }
  return { recordId: newId(), thid, peer, sides, message: { ...embedded, from, to: peer.did, thid } }
}

/** The problem of an invitation that the wallet has accepted before. */
export function alreadyReceived(purpose: Purpose, thid: string): Problem {
  const detail = `The invitation of the thread ${thid} was accepted before. Ask for a new one: an invitation is accepted once.`
  return new Problem(`${purposes[purpose].errors}:InvitationAlreadyReceived`, detail)
}

/**
 * Checks that an invitation carries neither an offer nor a request.
 *
 * @throws {Problem} 400 naming the endpoint that accepts it
 */
export function requireConnectionInvitation(invitation: OutOfBandInvitation): void {
  const purpose = purposeIn(invitation)
  if (!purpose) return
  const detail = `The invitation ${invitation.id} is not a connection invitation. Accept it with ${purposes[purpose].accept}.`
  throw new Problem('error:ConnectionServiceError:InvitationParsingError', detail)
}

/**
 * The purpose of an invitation by its embedded message. Undefined if it carries none, or one of an unknown
 * type.
 */
export function purposeIn(invitation: OutOfBandInvitation): Purpose | undefined {
  let message: EmbeddedMessage | undefined
  try {
    message = readEmbedded(invitation)
  } catch {
    // An unreadable attachment does not prevent a connection.
  }
  return message && purposeOf(message.type)
}

function purposeOf(type: string): Purpose | undefined {
  const names = Object.keys(purposes) as Purpose[]
  return names.find((name) => findKnownType(purposes[name].carries, type) !== undefined)
}

/**
 * Parses an invitation. If the text is its short URL, retrieves it first.
 *
 * @throws {Problem} `InvitationParsingError`, `RetrievalFailed`
 */
export async function retrieveInvitation({ env }: Wallet, text: string): Promise<ReadInvitation> {
  const url = findShortUrl(text)
  if (!url) return parseInvitation(text)
  return toInvitation(await env.retrieve(url), url)
}

/** The invitation in what a short URL returned. @throws {Problem} `InvitationParsingError` */
export function toInvitation(document: unknown, { host }: URL): ReadInvitation {
  return typeof document === 'string' ? parseInvitation(document) : readInvitation(document, host)
}

async function read(wallet: Wallet, text: string, purpose: Purpose): Promise<ReadInvitation> {
  try {
    return await retrieveInvitation(wallet, text)
  } catch (error) {
    const isUnreadable =
      error instanceof Problem && error.type === 'error:ConnectionServiceError:InvitationParsingError'
    throw isUnreadable ? unreadable(purpose, error.message, error) : error
  }
}

/** The embedded message of an invitation with this purpose. */
function unwrap(invitation: OutOfBandInvitation, purpose: Purpose): EmbeddedMessage {
  let message: EmbeddedMessage | undefined
  try {
    message = readEmbedded(invitation)
  } catch (error) {
    throw unreadable(purpose, `The invitation cannot be read: ${reasonOf(error)}.`, error)
  }
  const { id } = invitation
  const missing = `The invitation ${id} carries no ${purpose}`
  if (!message) throw unreadable(purpose, `${missing}. Accept it with POST /connection-invitations.`)
  const found = purposeOf(message.type)
  if (found === purpose) return message
  const way = found
    ? `Accept it with ${purposes[found].accept}.`
    : 'This agent does not support messages of that type.'
  throw unreadable(purpose, `${missing}, but a message of type ${message.type.slice(0, 200)}. ${way}`)
}

function unreadable(purpose: Purpose, detail: string, cause?: unknown): Problem {
  return new Problem(`${purposes[purpose].errors}:InvitationParsingError`, detail, { cause })
}
