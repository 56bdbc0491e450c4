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
const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const card = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><text>{{name}}</text></svg>')
async function upload(content: Buffer): Promise<{ uri: string; integrity: string }> {
  const response = await fetch(`${setup.identifier}/media`, {
    method: 'POST',
    headers: { apikey: tenant.apiKey, 'content-type': 'application/octet-stream' },
    body: content as never,
  })
  return (await response.json()) as { uri: string; integrity: string }
}

const readMetadata = async () =>
  (await ask(agent, `GET /oid4vci/issuers/${issuerId}/.well-known/openid-credential-issuer`)).body

const schemaId = await publishSchema(tenant, issuingDID, {
  title: 'Employee card',
  properties: { name: { type: 'string', title: 'Full name' } },
})

test('the metadata have the name of the issuer, and of a credential by the title of its schema', async () => {
  expect(await patch({ name: 'Acme', logo: { uri: 'https://acme.example/logo.png' } })).toMatchObject({
    display: [{ name: 'Acme' }],
  })
  expect(await add('Titled', {})).toMatchObject({ display: [{ name: 'Employee card' }] })
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

test('a card in two languages is in the metadata of the issuer and of the type', async () => {
  const [logo, template] = [await upload(png), await upload(card)]
  const display = [
    {
      locale: 'de',
      name: 'Dienstausweis',
      description: 'Für alle Beschäftigten',
      logo: { uri: logo.uri, altText: 'Acme' },
      backgroundColor: '#003366',
      textColor: '#ffffff',
      backgroundImage: { uri: logo.uri },
    },
    { locale: 'en', name: 'Employee card' },
  ]
  const claims = [{ path: ['name'], svgId: 'name', labels: { de: 'Name', en: 'Full name' } }]
  const svgTemplates = [{ uri: template.uri, orientation: 'landscape' as const }]
  const made = await add('Card', { display, claims, svgTemplates })
  const { integrity } = logo
  const first = {
    ...display[0],
    logo: { ...display[0]!.logo, integrity },
    backgroundImage: { uri: logo.uri, integrity },
  }
  expect(made).toMatchObject({
    display: [first, display[1]],
    claims,
    svgTemplates: [{ ...svgTemplates[0], integrity: template.integrity }],
  })
  const body = await readMetadata()
  expect(faults('credential_issuer_metadata-1_0', body)).toEqual([])
  const { Card } = body.credential_configurations_supported
  expect(Card.credential_metadata).toEqual({
    display: [
      {
        name: 'Dienstausweis',
        locale: 'de',
        description: 'Für alle Beschäftigten',
        logo: { uri: logo.uri, alt_text: 'Acme' },
        background_color: '#003366',
        background_image: { uri: logo.uri },
        text_color: '#ffffff',
      },
      { name: 'Employee card', locale: 'en' },
    ],
    claims: [
      {
        path: ['name'],
        mandatory: false,
        display: [
          { name: 'Name', locale: 'de' },
          { name: 'Full name', locale: 'en' },
        ],
      },
    ],
  })
  const templates = [
    { uri: template.uri, 'uri#integrity': template.integrity, properties: { orientation: 'landscape' } },
  ]
  expect((await ask(agent, `GET /oid4vci/issuers/${issuerId}/credential-types/Card`)).body).toEqual({
    vct: `${setup.identifier}/credential-types/Card`,
    name: 'Dienstausweis',
    description: 'Für alle Beschäftigten',
    display: [
      {
        locale: 'de',
        name: 'Dienstausweis',
        description: 'Für alle Beschäftigten',
        rendering: {
          simple: {
            logo: { uri: logo.uri, 'uri#integrity': integrity, alt_text: 'Acme' },
            background_image: { uri: logo.uri, 'uri#integrity': integrity },
            background_color: '#003366',
            text_color: '#ffffff',
          },
          svg_templates: templates,
        },
      },
      { locale: 'en', name: 'Employee card', rendering: { svg_templates: templates } },
    ],
    claims: [
      {
        path: ['name'],
        mandatory: false,
        sd: 'always',
        svg_id: 'name',
        display: [
          { locale: 'de', label: 'Name' },
          { locale: 'en', label: 'Full name' },
        ],
      },
    ],
  })
})

test('a template shows only claims that the configuration names, and several say when', async () => {
  const { uri } = await upload(card)
  const display = [{ locale: 'de', name: 'Ausweis' }]
  const wrong = await refusal(add('Refused', { display, svgTemplates: [{ uri }] }))
  expect(wrong.detail).toBe('svgTemplates.0.uri: no claim has the svgId of its placeholder {{name}}.')
  const claims = [{ path: ['name'], svgId: 'name' }]
  const two = await refusal(
    add('Refused', { display, claims, svgTemplates: [{ uri }, { uri, contrast: 'high' }] }),
  )
  expect(two.detail).toContain('svgTemplates.0: of several templates')
  const raster = [{ uri: (await upload(png)).uri }]
  expect((await refusal(add('Refused', { display, claims, svgTemplates: raster }))).detail).toContain(
    'not an SVG',
  )
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

test('the consent page has the card and the labels in the language of the reader, as a picture', async () => {
  const [logo, template] = [await upload(png), await upload(card)]
  const display = [
    {
      locale: 'de',
      name: 'Dienstausweis',
      logo: { uri: logo.uri },
      backgroundColor: '#777777',
      textColor: '#888888',
    },
    { locale: 'en', name: 'Employee card', backgroundColor: '#003366' },
  ]
  const claims = [{ path: ['name'], svgId: 'name', labels: { de: 'Vorname', en: 'Given name' } }]
  await add('Shown', { display, claims, issuingDID, begin: 'open' })
  const { credentialOffer } = await offer(setup, {
    grant: 'authorization_code',
    credentialConfigurationId: 'Shown',
    txCode: false,
  })
  const { parameters } = await requestFor(credentialOffer)
  const pageIn = async (language: string) => {
    const query = new URLSearchParams({ ...parameters, scope: 'Shown' } as Record<string, string>).toString()
    const headers = { accept: 'text/html', 'accept-language': language }
    const text = await (await fetch(`${setup.identifier}/authorize?${query}`, { headers })).text()
    const [, base64 = ''] =
      /<img class="card" src="data:image\/svg\+xml;base64,([^"]*)" alt="" \/>/.exec(text) ?? []
    return { text, card: Buffer.from(base64, 'base64').toString() }
  }
  const german = await pageIn('de')
  expect(german.text).toContain('<li>Vorname</li>')
  expect(german.card).toContain('>Dienstausweis</text>')
  expect(german.card).toContain(`data:image/png;base64,${png.toString('base64')}`)
  // The colours of the issuer cannot be told apart.
  expect(german.card).not.toContain('#777777')
  const english = await pageIn('en')
  expect(english.text).toContain('<li>Given name</li>')
  expect(english.card).toMatch(/fill="#003366".*fill="#ffffff">Employee card</)
  // The pages of offers show the same.
  const { credentialOffer: linked } = await offer(setup, {
    credentialConfigurationId: 'Shown',
    byReference: true,
  })
  const links = [
    new URL(linked).searchParams.get('credential_offer_uri')!,
    `${setup.identifier}/offers/Shown`,
  ]
  for (const link of links) {
    const headers = { accept: 'text/html', 'accept-language': 'de' }
    const text = await (await fetch(link, { headers })).text()
    expect(text).toContain('<dd>Dienstausweis</dd>')
    expect(text).toContain('<dd>Vorname</dd>')
    expect(text).toContain('<dd>Acme &lt;b&gt;</dd>')
    expect(text).toContain('<img class="card" src="data:image/svg+xml;base64,')
  }
  const change = { svgTemplates: [{ uri: template.uri }], newVersion: true }
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { ...path, credentialConfigId: 'Shown' },
    body: change,
  })
  // Without the values of claims.
  expect((await pageIn('de')).card).toBe(card.toString().replace('{{name}}', ''))
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
    'display.0.logo.uri: is neither an https or data URL nor',
  ],
  [
    {
      display: [
        { name: 'A', locale: 'de' },
        { name: 'B', locale: 'DE' },
      ],
    },
    'display.1.locale: de is there twice',
  ],
  [{ display: [{ name: 'A', locale: 'deutsch!' }] }, 'display.0.locale: is not a language tag of BCP 47'],
  [
    { display: { name: 'A', logo: { uri: 'data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=' } } },
    'display.0.logo.uri: the picture is an SVG that is refused: line 1 has no xmlns',
  ],
  [
    { display: { name: 'A', logo: { uri: `${setup.identifier}/media/0` } } },
    'display.0.logo.uri: is not a picture of',
  ],
  [{ claims: [{ path: ['nom'] }] }, 'claims.0.path: the schema has no property ["nom"]'],
  [{ claims: [{ path: ['name'] }, { path: ['name'] }] }, 'claims.1.path: ["name"] is there twice'],
  [{ claims: [{ path: ['name'], svgId: 'a b' }] }, 'claims.0.svgId: is not a name of letters'],
  [
    { claims: [{ path: ['name'], from: 'source', value: 1 }] },
    'claims.0.value: the claim has another origin',
  ],
  [{ claims: [{ path: ['name'], labels: { '?': 'Name' } }] }, 'is not a language tag'],
  [
    { svgTemplates: [{ uri: 'https://a.example/a.svg' }] },
    'svgTemplates: type metadata have templates for a language',
  ],
  [
    { svgTemplates: [{ uri: 'https://a.example/a.svg' }], display: [{ name: 'A', locale: 'de' }] },
    'svgTemplates.0.uri: is not a picture of the issuer',
  ],
  [{ format: 'jwt_vc_json', svgTemplates: [] }, 'svgTemplates'],
  [{ issuingDID: 'did:web:other.example' }, 'did:web:other.example is not in this wallet'],
  [
    { issuingDID, issuerCertificateId: '00000000-0000-4000-8000-000000000000' },
    'issuingDID: the issuer certificate signs',
  ],
])('a configuration with %j is refused', async (more, reason) => {
  expect((await refusal(add('Refused', more))).detail).toContain(reason)
})
