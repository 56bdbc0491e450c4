/** Names, logos and colours: what a wallet shows of an issuer and of its credentials. */
import { expect, test } from 'vitest'
import { ask } from '../../support/ask.ts'
import { untilEnd } from '../../support/shared.ts'
import { publishSchema, refusal } from '../../support/tenants.ts'
import { open, requestFor } from './_authorization.ts'
import { faults } from './_schemas.ts'
import { offer, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { agent, tenant, issuerId, issuingDID } = setup
const path = { issuerId }
const patch = (display: { name: string; logo?: { uri: string } } | null) =>
  tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { display } })
const add = (configurationId: string, more: object) =>
  tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path,
    body: { configurationId, format: 'dc+sd-jwt', schemaId, ...more },
  })
const readMetadata = async () =>
  (await ask(agent, `GET /oid4vci/issuers/${issuerId}/.well-known/openid-credential-issuer`)).body

const schemaId = await publishSchema(tenant, issuingDID, {
  title: 'Employee card',
  properties: { name: { type: 'string', title: 'Full name' } },
})

test('the metadata have the name of the issuer, and of a credential by the title of its schema', async () => {
  expect(await patch({ name: 'Acme', logo: { uri: 'https://acme.example/logo.png' } })).toMatchObject({
    display: { name: 'Acme' },
  })
  expect(await add('Titled', {})).toMatchObject({ display: { name: 'Employee card' } })
  const display = { name: 'Badge', backgroundColor: '#1a5fb4', textColor: '#ffffff', description: 'At work' }
  await add('Named', { display })
  const body = await readMetadata()
  expect(faults('credential_issuer_metadata-1_0', body)).toEqual([])
  expect(body.display).toEqual([{ name: 'Acme', logo: { uri: 'https://acme.example/logo.png' } }])
  const { Titled, Named, Person } = body.credential_configurations_supported
  expect(Titled.credential_metadata).toMatchObject({
    display: [{ name: 'Employee card' }],
    claims: [{ path: ['name'], display: [{ name: 'Full name' }] }],
  })
  expect(Named.credential_metadata.display).toEqual([
    { name: 'Badge', description: 'At work', background_color: '#1a5fb4', text_color: '#ffffff' },
  ])
  expect(Person.credential_metadata.display).toBeUndefined()
  const type = await ask(agent, `GET /oid4vci/issuers/${issuerId}/credential-types/Named`)
  expect(type.body).toMatchObject({ name: 'Badge', description: 'At work' })
})

test('the consent page names the credential, and says what the issuer calls itself', async () => {
  await patch({ name: 'Acme <b>' })
  const { credentialOffer } = await offer(setup, {
    grant: 'authorization_code',
    credentialConfigurationId: 'Titled',
    txCode: false,
  })
  const { text } = await open(setup, { ...(await requestFor(credentialOffer)).parameters, scope: 'Titled' })
  expect(text).toContain('Employee card')
  expect(text).toContain('Acme &lt;b&gt;')
})

test('a name can be removed', async () => {
  await patch({ name: 'Acme' })
  expect((await patch(null)).display).toBeUndefined()
  expect((await readMetadata()).display).toBeUndefined()
})

test('an offer needs no DID if the configuration has one', async () => {
  await add('Signed', { issuingDID })
  const { recordId } = await offer(setup, { credentialConfigurationId: 'Signed', issuingDID: undefined })
  const record = await tenant.call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
  expect(record.issuingDID).toBe(issuingDID)
})

test.each([
  [{ display: { name: ' ' } }, 'display.name'],
  [
    { display: { name: 'A', textColor: 'red' } },
    'display.textColor: is not a colour of CSS, such as #1a5fb4',
  ],
  [
    { display: { name: 'A', logo: { uri: 'http://a.example/a.png' } } },
    'display.logo.uri: is not an https or data URL',
  ],
  [{ issuingDID: 'did:web:other.example' }, 'did:web:other.example is not in this wallet'],
  [
    { issuingDID, issuerCertificateId: '00000000-0000-4000-8000-000000000000' },
    'issuingDID: the issuer certificate signs',
  ],
])('a configuration with %j is refused', async (more, reason) => {
  expect((await refusal(add('Refused', more))).detail).toContain(reason)
})
