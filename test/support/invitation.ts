/** Creates, accepts and parses invitations that carry an offer or a request. */
import { eventsAfter } from '../../src/wallet/events/event.ts'
import type { TestAgent } from './agent.ts'
import { newDid, oobOf, type Tenant } from './tenants.ts'

/** The JSON of an invitation. */
export function decode(record: { invitation?: { invitationUrl: string } | undefined }): any {
  return JSON.parse(Buffer.from(oobOf(record), 'base64url').toString())
}

/** The `_oob` text of any JSON. */
export function encode(invitation: unknown): string {
  return Buffer.from(JSON.stringify(invitation)).toString('base64url')
}

/** Creates an invitation with an offer by a new, published DID; `more` adds to the body. */
export async function offerByInvitation(issuer: Tenant, more: object = {}) {
  const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
  const body = { issuingDID, claims: { name: 'Alice' }, automaticIssuance: true, ...more }
  return issuer.call('POST /issue-credentials/credential-offers/invitation', { body })
}

/** Takes the offer in an invitation, which may be in any form. */
export function acceptOfferInvitation({ call }: Tenant, invitation: string) {
  return call('POST /issue-credentials/credential-offers/accept-invitation', { body: { invitation } })
}

/** Takes the request in an invitation. */
export function acceptRequestInvitation({ call }: Tenant, invitation: string) {
  return call('POST /present-proof/presentations/accept-invitation', { body: { invitation } })
}

/** Accepts an offer with a new DID. */
export async function acceptOffer(holder: Tenant, recordId: string) {
  const { did: subjectId } = await newDid(holder, 'authentication')
  return holder.call('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: { subjectId },
  })
}

/** The states of a thread that a tenant's wallet has announced, in order. */
export function announced({ agent }: TestAgent, { walletId }: Tenant, thid: string): Promise<unknown[]> {
  return agent.wallets.use(walletId, async ({ db }) =>
    (await eventsAfter(db, walletId, 0, 1_000))
      .filter(({ event }) => event.data.thid === thid)
      .map(({ event: { data } }) => data.protocolState ?? data.status ?? data.state),
  )
}
