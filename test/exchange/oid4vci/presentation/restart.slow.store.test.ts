/**
 * A presentation before issuance is a row: a daemon that is killed between presentation, consent and code
 * continues. The credential that is presented is of one tenant, the new one of another, and both are in our
 * wallet.
 */
import { expect, test } from 'vitest'
import { Daemon } from '../../../support/daemon.ts'
import { publishSchema, until } from '../../../support/tenants.ts'
import { answer, redirectUri, sealedIn } from '../_authorization.ts'
import { acceptOffer, inState, receive } from '../holder/_holder.ts'
import { vct } from '../../oid4vp/_wallet.ts'
import { addIssuer, offer } from '../_wallet.ts'
import { addPasses, alice, enter, goOn, pressed, trust } from './_presentation.ts'

test('an identity card of one tenant is presented for a card of another', async () => {
  await using daemon = await Daemon.start()
  const [state, library, holder] = [
    await daemon.newTenant('state'),
    await daemon.newTenant('library'),
    await daemon.newTenant('holder'),
  ]
  const pid = await addIssuer(daemon, state)
  const { issuerId } = pid
  const schemaId = await publishSchema(state, pid.issuingDID, {
    name: 'pid',
    properties: { birthdate: { type: 'string' }, family_name: { type: 'string' } },
    required: ['birthdate', 'family_name'],
  })
  await state.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: { configurationId: 'Pid', format: 'dc+sd-jwt', schemaId, vct },
  })
  const { credentialOffer } = await offer(pid, { credentialConfigurationId: 'Pid', claims: alice })
  await acceptOffer(holder, credentialOffer)

  const setup = await addPasses(daemon, library)
  await trust(library, pid.issuingDID)
  const made = await offer(setup, {
    credentialConfigurationId: 'Card',
    claims: { family_name: 'Adams', level: 'gold' },
  })
  const { recordId } = await receive(holder, made.credentialOffer)
  const { openid4vci } = await holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path: { recordId },
    body: { redirectUri },
  })
  const parameters = Object.fromEntries(new URL(openid4vci!.authorizationUrl!).searchParams)
  const begun = await pressed(setup, await enter(setup, parameters))
  await daemon.crash()

  const { presentationId } = await holder.call('POST /present-proof/presentations/openid4vp/requests', {
    body: { authorizationRequest: begun.authorizationRequest },
  })
  await holder.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'request-accept' },
  })
  await until(
    'the presentation is sent',
    () => holder.call('GET /present-proof/presentations/{presentationId}', { path: { presentationId } }),
    ({ status }) => status === 'PresentationSent',
  )
  await daemon.crash()

  const page = await goOn(begun)
  expect(page.text).toContain('value="accept"')
  await daemon.crash()

  const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
  await daemon.crash()

  const body = Object.fromEntries(location!.searchParams) as { code: string; state: string; iss: string }
  await holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', {
    path: { recordId },
    body,
  })
  const { claims } = await inState(holder, recordId, 'CredentialReceived')
  expect(claims).toMatchObject({ birthdate: alice.birthdate, family_name: 'Adams', level: 'gold' })
})
