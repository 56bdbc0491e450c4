/**
 * Status lists of own credentials as VDR entries on the ledger (`VDR_STATUS_LISTS`): verified by an agent
 * that shares only the ledger.
 */
import { verifyJwtVc, verifySdJwt } from '../../credentials/codecs/_verify.ts'
import { expect, test } from 'vitest'
import { statusChecks } from '../../../src/wallet/credential-status/check.ts'
import { startAgent } from '../../support/agent.ts'
import { publishSchema, until } from '../../support/tenants.ts'
import { prove, redeemed, request, startIssuer } from '../../exchange/oid4vci/_wallet.ts'
import { createVdrDid, publish } from './_entries.ts'
import { untilEnd } from '../../support/shared.ts'

const issuer = await startIssuer({ VDR_STATUS_LISTS: 'true', VDR_CONFIRM_AFTER: '1' })
const verifier = await untilEnd(startAgent({ VDR_URL: issuer.agent.url }))
const { tenant, issuerId, issuingDID } = issuer
const schemaId = await publishSchema(tenant, issuingDID, {
  name: 'licence',
  properties: { name: { type: 'string' } },
  required: ['name'],
})
await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
  path: { issuerId },
  body: { configurationId: 'Licence', format: 'dc+sd-jwt', schemaId },
})

async function issue(credentialConfigurationId: string) {
  const { recordId, token } = await redeemed(issuer, { credentialConfigurationId })
  const jwt = await prove(issuer)
  const body = { credential_configuration_id: credentialConfigurationId, proofs: { jwt: [jwt] } }
  const { status, body: reply } = await request(issuer, { token, body })
  return { recordId, status, reply, credential: reply.credentials?.[0]?.credential as string }
}

function verify(credential: string): Promise<unknown> {
  const { env } = verifier.agent
  const options = { resolve: env.resolver.document, now: Date.now() / 1_000, ...statusChecks(env) }
  return credential.includes('~') ? verifySdJwt(credential, options) : verifyJwtVc(credential, options)
}

/** The reason why the credential is refused, or `valid`. */
const outcome = (credential: string) =>
  verify(credential).then(
    () => 'valid',
    (error: Error) => error.message,
  )

const payloadOf = (credential: string) =>
  JSON.parse(Buffer.from(credential.split('.')[1]!, 'base64url').toString())

test('without a VDR key nothing is issued, and the offer can still be redeemed', async () => {
  const { token } = await redeemed(issuer, { credentialConfigurationId: 'Licence' })
  const body = { credential_configuration_id: 'Licence', proofs: { jwt: [await prove(issuer)] } }
  const refused = await request(issuer, { token, body })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.body)).toContain('VDR key vdr-1')
  await publish(issuer.tenant, await createVdrDid(issuer.tenant, 'vdr-1'))
  const again = { credential_configuration_id: 'Licence', proofs: { jwt: [await prove(issuer)] } }
  expect((await request(issuer, { token, body: again })).status).toBe(200)
})

test.each(['Licence', 'Person'])('a revocation reaches the ledger: %s', async (configurationId) => {
  const first = await issue(configurationId)
  const other = await issue(configurationId)
  const { status, vc } = payloadOf(first.credential)
  const url = status?.status_list.uri ?? vc.credentialStatus.statusListCredential
  expect(url).toMatch(/^vdr:\/\/\?drf=prism&drid=neoprism/)
  await until(
    'the list',
    () => outcome(first.credential),
    (seen) => seen === 'valid',
  )
  const { tenant } = issuer
  await tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: first.recordId } })
  await until(
    'the revocation',
    () => outcome(first.credential),
    (seen) => seen.includes('revoked'),
  )
  expect(await outcome(other.credential)).toBe('valid')
  // Both lists are of the same issuer: each form has an entry.
  const again = payloadOf(other.credential)
  expect(again.status?.status_list.uri ?? again.vc.credentialStatus.statusListCredential).toBe(url)
})

test('revocations while the ledger has not confirmed the last one are written together', async () => {
  const all = await Promise.all([issue('Licence'), issue('Licence'), issue('Licence')])
  const { tenant } = issuer
  for (const { recordId: id } of all)
    await tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id } })
  for (const { credential } of all)
    await until(
      'the revocation',
      () => outcome(credential),
      (seen) => seen.includes('revoked'),
    )
})

test('the driver must be enabled', async () => {
  await expect(startAgent({ VDR_STATUS_LISTS: 'true', VDR_LEDGER_DRIVER_ENABLED: 'false' })).rejects.toThrow(
    'VDR_STATUS_LISTS',
  )
})
