/** How a received credential looks: by its type metadata, which are read once and checked, or by the issuer. */
import { expect, test } from 'vitest'
import { untilEnd } from '../../../support/shared.ts'
import { publishSchema } from '../../../support/tenants.ts'
import { offer } from '../_wallet.ts'
import { accept, acceptOffer, inState, receive, show, startHolderPair } from './_holder.ts'

const pair = await untilEnd(startHolderPair())
const { setup, holder } = pair
const { tenant, issuerId, issuingDID, identifier } = setup
const schemaId = await publishSchema(tenant, issuingDID, {
  properties: { given_name: { type: 'string' }, age: { type: 'integer' } },
})
const display = [
  { locale: 'en', name: 'Employee card', logo: { uri: 'https://a.example/a.png', altText: 'Acme' } },
  { locale: 'de', name: 'Dienst\u202eausweis\n', description: 'Für alle', backgroundColor: '#003366' },
]
const claims = [
  { path: ['age'], labels: { en: 'Age' } },
  { path: ['given_name'], labels: { en: 'Given name', de: 'Vor\u001bname' } },
]

const add = (configurationId: string, more: object = {}) =>
  tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: { configurationId, format: 'dc+sd-jwt', schemaId, issuingDID, display, claims, ...more },
  })
const offered = async (credentialConfigurationId: string) =>
  (await offer(setup, { credentialConfigurationId, claims: { given_name: 'Alice', age: 42 } }))
    .credentialOffer
const lookIn = (record: Awaited<ReturnType<typeof show>>) => record.openid4vci?.look

const look = {
  display: [
    { locale: 'en', name: 'Employee card', logo: 'Acme' },
    { locale: 'de', name: 'Dienst ausweis', description: 'Für alle', backgroundColor: '#003366' },
  ],
  claims: [
    { path: ['age'], labels: [{ locale: 'en', name: 'Age' }] },
    {
      path: ['given_name'],
      labels: [
        { locale: 'en', name: 'Given name' },
        { locale: 'de', name: 'Vor name' },
      ],
    },
  ],
}

test('the look is that of the issuer first, and of the type metadata once the credential is here', async () => {
  await add('Card')
  const received = await receive(holder, await offered('Card'))
  expect(lookIn(received)).toEqual(look)
  await accept(holder, received.recordId)
  const record = await inState(holder, received.recordId, 'CredentialReceived')
  expect(lookIn(record)).toEqual(look)
  const reads = record.openid4vci!.calls.filter(({ url }) => url === `${identifier}/credential-types/Card`)
  expect(reads).toMatchObject([{ method: 'GET', outcome: '200' }])
})

test('a later version has what it extends', async () => {
  await add('Versioned')
  await offered('Versioned')
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId, credentialConfigId: 'Versioned' },
    body: { display: null, claims: null, newVersion: true },
  })
  const record = await acceptOffer(holder, await offered('Versioned'), 'CredentialReceived')
  // The claims of the child come first, in its order.
  expect(lookIn(record)).toEqual({ ...look, claims: look.claims.toReversed() })
})

test('a presentation reads no type metadata', async () => {
  const record = await acceptOffer(holder, await offered('Card'), 'CredentialReceived')
  const { db } = setup.agent.agent
  await db.deleteFrom('credential_type').where('configuration_id', '=', 'Card').execute()
  expect(lookIn(await show(holder, record.recordId))).toEqual(look)
})

test('without a digest, or with another document, the look is that of the issuer, and says why', async () => {
  await add('Open', { integrity: false })
  const open = await acceptOffer(holder, await offered('Open'), 'CredentialReceived')
  expect(lookIn(open)).toEqual({ ...look, note: expect.stringContaining('no digest of its type metadata') })
  await add('Tampered')
  const credentialOffer = await offered('Tampered')
  await change('Tampered', (document) => document.replace('Employee card', 'Free beer'))
  const tampered = await acceptOffer(holder, credentialOffer, 'CredentialReceived')
  expect(lookIn(tampered)).toEqual({ ...look, note: expect.stringContaining('is not the document that its') })
})

test.each([
  ['has no mandatory claim', { path: ['family_name'], mandatory: true }, 'requires the claim family_name'],
  [
    'discloses what must not be',
    { path: ['age'], sd: 'never' },
    'forbids selective disclosure of the claim age',
  ],
  [
    'has a text for an object',
    { path: ['given_name', 'first'] },
    'expects an object in the claim given_name',
  ],
])('a credential that %s by its type metadata is refused', async (name, claim, reason) => {
  const id = name.replaceAll(/\W/g, '')
  await add(id)
  await offered(id)
  await change(id, (document) => JSON.stringify({ ...JSON.parse(document), claims: [claim] }))
  const record = await acceptOffer(holder, await offered(id), 'IssuanceFailed')
  expect(record.metaLastFailure?.detail).toContain(reason)
})

/** Changes stored type metadata, as no request can. */
async function change(id: string, to: (document: string) => string): Promise<void> {
  const { db } = setup.agent.agent
  const own = db.selectFrom('credential_type').select('document').where('configuration_id', '=', id)
  const { document } = await own.executeTakeFirstOrThrow()
  await db
    .updateTable('credential_type')
    .set({ document: to(document!) })
    .where('configuration_id', '=', id)
    .execute()
}
