/** What the page of an invitation shows of it. */
import { findHost } from '../../src/agent/incoming.ts'
import { isOver } from '../../src/foundation/clock.ts'
import { toInvitationUrl, type OutOfBandInvitation } from '../../src/exchange/didcomm/invitation.ts'
import { purposeIn } from '../../src/exchange/protocols/out-of-band.ts'
import type { InvitationLink } from '../pages/invitation.ts'

/** `oob` is the encoded invitation, `base` the public base URL of the API. */
export function toInvitationLink(
  { invitation, oob }: { invitation: OutOfBandInvitation; oob: string },
  base: string,
): InvitationLink {
  const { expires_time: expires } = invitation
  const endsAt = expires === undefined ? undefined : new Date(expires * 1_000)
  return {
    invitation,
    oob,
    endsAt,
    isOver: endsAt !== undefined && isOver(endsAt.getTime()),
    url: toInvitationUrl(`${base}/invitation`, oob),
    purpose: purposeIn(invitation) ?? 'connect',
    host: findHost(invitation.from),
  }
}
