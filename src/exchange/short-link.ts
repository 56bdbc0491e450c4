/** The invitations that short links return. */
import { isOver } from '../foundation/clock.ts'
import { parseInvitation, type OutOfBandInvitation } from './didcomm/invitation.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { invitationExpiryOf } from './protocols/connection/flow.ts'
import { findByShortId } from './engine/find.ts'
import { protocols } from './all-protocols.ts'
import type { StoredInvitation } from './protocols/model.ts'

/**
 * An invitation, and `oob`, its `_oob` parameter. It can be answered if it `isOpen`: it was not answered, and
 * has not expired.
 */
export type LinkedInvitation = {
  recordId: string
  invitation: OutOfBandInvitation
  oob: string
  endsAt: Date
  isOpen: boolean
}

/** The own invitation of a short link. Undefined if the wallet has no such record. */
export async function findInvitation(
  { db, env: { config } }: Wallet,
  shortId: string,
): Promise<LinkedInvitation | undefined> {
  const record = await findByShortId(db, protocols, shortId)
  // The record of a credential offer of OpenID4VCI has a short link, and no invitation.
  if (!record?.invitation) return undefined
  const invitation = record.invitation as StoredInvitation
  const endsAt = invitationExpiryOf({ ...record, invitation }, config)
  return {
    ...parseInvitation(invitation.invitationUrl),
    recordId: record.id,
    endsAt: new Date(endsAt),
    isOpen: record.state === 'InvitationGenerated' && !isOver(endsAt),
  }
}
