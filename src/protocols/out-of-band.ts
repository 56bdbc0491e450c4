/** Invitations that carry an offer or a request, as their maker has them: no connection is made for them (wire.md 2.3, api.md 4.7, 4.8). */
import { isOver } from '../base/clock.ts'
import { newId, randomId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { createInvitation, embedMessage, toInvitationUrl } from '../didcomm/invitation.ts'
import type { Attachment } from '../didcomm/message.ts'
import { isPublicUrl } from '../net/public-url.ts'
import type { Tx } from '../storage/database.ts'
import { newPeerDid, type NewPeerDid } from '../wallet/peer-dids.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { issueCredential } from './issue-credential/model.ts'
import { present, type KeptInvitation } from './model.ts'
import { didcommOrgMessages, presentProof } from './present-proof/model.ts'

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
export async function refuseLate(
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
