/** Two daemon processes: a presentation fails after revocation, even if the issuer is killed right after it. */
import { expect, test } from 'vitest'
import { startMainFlow, steps, type MainFlow } from '../support/main-flow.ts'
import { connect, until, type Tenant } from '../support/tenants.ts'
import { isRevoked } from './_revocation.ts'

/** Requests a presentation over a connection. Returns the verifier's record in state `end`. */
async function present(
  { webhook, holder, holderRecordId }: MainFlow,
  verifier: Tenant,
  connectionId: string,
  end: string,
) {
  const { thid, presentationId } = await verifier.call('POST /present-proof/presentations', {
    body: { connectionId },
  })
  const request = await webhook.reached(holder, thid, 'RequestReceived')
  await holder.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId: request.presentationId },
    body: { action: 'request-accept', proofId: [holderRecordId] },
  })
  await webhook.reached(verifier, thid, end)
  return verifier.call('GET /present-proof/presentations/{presentationId}', { path: { presentationId } })
}

test('a credential that one daemon revokes is refused by both, even if the first is killed', async () => {
  await using started = await startMainFlow()
  const { acme, alice, webhook, issuer, holder, flow } = started
  // All steps before the proof.
  for (const step of Object.values(steps).slice(0, 9)) await step(flow)
  await webhook.reached(holder, flow.credentialThid, 'CredentialReceived')
  const verifier = await alice.newTenant('verifier')
  const { inviterConnectionId } = await connect(verifier, holder)
  const held = () =>
    holder.call('GET /issue-credentials/records/{recordId}', { path: { recordId: flow.holderRecordId } })
  const { credential } = await held()
  const jwt = Buffer.from(credential!, 'base64url').toString()
  const presentBoth = async (end: string) => [
    await present(flow, issuer, flow.connectionId, end),
    await present(flow, verifier, inviterConnectionId, end),
  ]

  await presentBoth('PresentationVerified')
  expect(await isRevoked(jwt)).toBe(false)
  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: flow.recordId } })
  await acme.crash()
  expect(await isRevoked(jwt)).toBe(true)
  const { protocolState } = await until('the revocation notice', held, ({ revoked }) => revoked === true)
  expect(protocolState).toBe('CredentialReceived')
  for (const { metaLastFailure } of await presentBoth('PresentationVerificationFailed')) {
    expect(metaLastFailure!.detail).toMatch(/the credential is revoked/)
  }
})
