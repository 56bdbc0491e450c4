/**
 * What wallets of others read of a German card: the metadata of the issuer with the library of the OpenWallet
 * Foundation, and the type metadata with `@sd-jwt/sd-jwt-vc`, with its digests and the types that it extends.
 */
import { createHash } from 'node:crypto'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { expect, test } from 'vitest'
import { verify, type PublicJwk } from '../../../src/foundation/crypto/keys.ts'
import { resolveJwkDid } from '../../../src/did/jwk.ts'
import { untilEnd } from '../../support/shared.ts'
import { publishSchema } from '../../support/tenants.ts'
import { client, redeemOffer, take } from './_foreign-wallet.ts'
import { faults } from './_schemas.ts'
import { offer, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { tenant, issuerId, identifier } = setup
const path = { issuerId }
const { longFormDid: issuingDID } = await tenant.call('POST /did-registrar/dids', {
  body: { method: 'jwk', documentTemplate: {} },
})

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><text>{{given_name}}</text></svg>')
async function upload(content: Buffer): Promise<{ uri: string; integrity: string }> {
  const headers = { apikey: tenant.apiKey, 'content-type': 'application/octet-stream' }
  const init = { method: 'POST', headers, body: content as never }
  return (await fetch(`${identifier}/media`, init)).json() as Promise<{ uri: string; integrity: string }>
}
const [logo, template] = [await upload(png), await upload(svg)]

const card = {
  locale: 'de',
  name: 'Dienstausweis',
  description: 'Für alle Beschäftigten',
  logo: { uri: logo.uri, altText: 'Wappen der Acme' },
  backgroundColor: '#003366',
  textColor: '#ffffff',
}
await tenant.call('PATCH /oid4vci/issuers/{issuerId}', {
  path,
  body: { display: [{ locale: 'de', name: 'Acme Behörde', logo: { uri: logo.uri } }] },
})
await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
  path,
  body: {
    configurationId: 'Card',
    format: 'dc+sd-jwt',
    issuingDID,
    schemaId: await publishSchema(tenant, setup.issuingDID, {
      properties: { given_name: { type: 'string' }, department: { type: 'string' } },
      required: ['given_name'],
    }),
    display: [card, { locale: 'en', name: 'Employee card' }],
    svgTemplates: [{ uri: template.uri, orientation: 'landscape' }],
    claims: [
      { path: ['given_name'], svgId: 'given_name', labels: { de: 'Vorname', en: 'Given name' } },
      { path: ['department'], labels: { de: 'Abteilung', en: 'Department' } },
    ],
  },
})

const issue = async () => {
  const options = { credentialConfigurationId: 'Card', issuingDID, txCode: false }
  const { credentialOffer } = await offer(setup, { ...options, claims: { given_name: 'Älia' } })
  return take(await redeemOffer(credentialOffer), 'Card')
}

test('the metadata of the issuer', async () => {
  const { credentialIssuer, knownCredentialConfigurations } = await client.resolveIssuerMetadata(identifier)
  expect(faults('credential_issuer_metadata-1_0', credentialIssuer)).toEqual([])
  expect(credentialIssuer.display).toEqual([{ locale: 'de', name: 'Acme Behörde', logo: { uri: logo.uri } }])
  const { display, claims } = knownCredentialConfigurations['Card']!.credential_metadata!
  expect(display!.find(({ locale }) => locale === 'de')).toEqual({
    locale: 'de',
    name: 'Dienstausweis',
    description: 'Für alle Beschäftigten',
    logo: { uri: logo.uri, alt_text: 'Wappen der Acme' },
    background_color: '#003366',
    text_color: '#ffffff',
  })
  const labels = (claims as { path: string[]; display: { locale: string; name: string }[] }[]).map(
    (claim) => [claim.path, claim.display.find(({ locale }) => locale === 'de')?.name],
  )
  expect(labels).toEqual([
    [['given_name'], 'Vorname'],
    [['department'], 'Abteilung'],
  ])
})

/** A document with the digest of its integrity string (W3C Subresource Integrity), which the wallet checks. */
async function readWhole(url: string, integrity: string | undefined): Promise<Buffer> {
  const content = Buffer.from(await (await fetch(url)).arrayBuffer())
  const digest = createHash('sha256').update(content).digest('base64')
  expect(integrity, url).toBe(`sha256-${digest}`)
  return content
}

const { publicKeyJwk } = resolveJwkDid(issuingDID).verificationMethod![0] as { publicKeyJwk: PublicJwk }
const wallet = new SDJwtVcInstance({
  hasher: (data, algorithm) =>
    createHash(algorithm.replace('-', ''))
      .update(typeof data === 'string' ? data : Buffer.from(data))
      .digest(),
  verifier: (data, signature) => verify(publicKeyJwk, Buffer.from(data), Buffer.from(signature, 'base64url')),
  loadTypeMetadataFormat: true,
  // Its own fetcher compares the digest in hexadecimal.
  vctFetcher: async (url, integrity) => {
    const document = JSON.parse((await readWhole(url, integrity)).toString()) as { vct: string }
    expect(faults('type_metadata', document)).toEqual([])
    return document
  },
  statusListFetcher: async (url) => (await fetch(url)).text(),
  statusVerifier: () => true,
})

test('the type metadata of a credential, and those of its next version, which extends it', async () => {
  const first = await wallet.verify(await issue())
  const { vct } = first.payload
  expect(first.typeMetadata).toMatchObject({ vctValues: [vct] })
  const merged = first.typeMetadata!.mergedTypeMetadata
  const german = merged.display!.find(({ locale }) => locale === 'de')!
  const { simple, svg_templates } = german.rendering!
  expect(german).toMatchObject({ name: 'Dienstausweis', description: 'Für alle Beschäftigten' })
  expect(simple).toEqual({
    logo: { uri: logo.uri, 'uri#integrity': logo.integrity, alt_text: 'Wappen der Acme' },
    background_color: '#003366',
    text_color: '#ffffff',
  })
  expect(await readWhole(simple!.logo!.uri, simple!.logo!['uri#integrity'])).toEqual(png)
  const [own] = svg_templates!
  expect(own!.properties).toEqual({ orientation: 'landscape' })
  expect(await readWhole(own!.uri, own!['uri#integrity'])).toEqual(svg)
  const labelled = (claims: typeof merged.claims) =>
    claims!.map(({ path, svg_id, display }) => [
      path,
      svg_id,
      display!.find(({ locale }) => locale === 'de')!.label,
    ])
  const labels = [
    [['given_name'], 'given_name', 'Vorname'],
    [['department'], undefined, 'Abteilung'],
  ]
  expect(labelled(merged.claims)).toEqual(labels)

  await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId, credentialConfigId: 'Card' },
    body: { display: [{ ...card, name: 'Neuer Dienstausweis' }], newVersion: true },
  })
  const second = await wallet.verify(await issue())
  expect(second.typeMetadata!.vctValues).toEqual([`${vct}/v2`, vct])
  const next = second.typeMetadata!.mergedTypeMetadata
  expect(next.display).toMatchObject([{ locale: 'de', name: 'Neuer Dienstausweis' }])
  expect(labelled(next.claims)).toEqual(labels)
})
