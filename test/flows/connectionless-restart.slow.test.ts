/** Two daemons, killed between any two transitions, issue and present by invitations without a connection. */
import { test } from 'vitest'
import {
  acceptOffer,
  acceptOfferInvitation,
  acceptRequestInvitation,
  offerByInvitation,
} from '../support/invitation.ts'
import { credentialIn, presentationIn, startDaemonPair } from '../support/tenants.ts'
import { prove } from './_steps.ts'

test('an invitation, its answer and the following steps survive kill -9 of both sides', async () => {
  await using pair = await startDaemonPair()
  const { acme, alice, issuer, holder } = pair
  const crash = () => Promise.all([acme.crash(), alice.crash()])

  const { invitation, thid } = await offerByInvitation(issuer)
  await crash()
  const { recordId } = await acceptOfferInvitation(holder, invitation!.invitationUrl)
  await crash()
  await acceptOffer(holder, recordId)
  await crash()
  await credentialIn(holder.call, thid, 'CredentialReceived')
  await credentialIn(issuer.call, thid, 'CredentialSent')

  const asked = await issuer.call('POST /present-proof/presentations/invitation', { body: {} })
  await crash()
  const { presentationId } = await acceptRequestInvitation(holder, asked.invitation!.invitationUrl)
  await crash()
  await prove(holder, presentationId, recordId)
  await crash()
  await presentationIn(issuer.call, asked.thid, 'PresentationVerified')
  await presentationIn(holder.call, asked.thid, 'PresentationSent')
})
