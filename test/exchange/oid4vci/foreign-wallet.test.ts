/**
 * A wallet of others, of the OpenWallet Foundation's library, takes credentials from the issuer: by an offer,
 * without one, several of one offer, and anew by its refresh token.
 */
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import type { CredentialOfferObject } from '@openid4vc/openid4vci'
import { expect, test } from 'vitest'
import { publishSchema } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'
import { answer, open, sealedIn, type Shown } from './_authorization.ts'
import {
  authorize,
  client,
  newDpop,
  redeemOffer,
  refresh,
  take,
  takeCredentials,
  takeIdentified,
  takeLater,
} from './_foreign-wallet.ts'
import { browse, useProvider } from './log-in/_browser.ts'
import { startIdentityProvider } from './log-in/_real-provider.ts'
import { faults } from './_schemas.ts'
import { addIssuer, fetchDeferred, offer, recordOf, startIssuer, type Setup } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { tenant, issuerId, issuingDID, identifier } = setup
const path = { issuerId }
const staff = await addIssuer(setup.agent, tenant)
const provider = await untilEnd(startIdentityProvider({ redirectUris: [`${staff.identifier}/log-in`] }))
await useProvider(staff, provider.url, { scope: 'openid profile' })

const add = async (to: Setup, configurationId: string, required: string[], more: object = {}) => {
  const schemaId = await publishSchema(tenant, issuingDID, { name: configurationId, required })
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId: to.issuerId },
    body: { configurationId, format: 'jwt_vc_json', schemaId, issuingDID, ...more },
  })
}
await add(setup, 'Voucher', [], { begin: 'open', renewal: { days: 90 } })
await add(setup, 'Ticket', [], { begin: 'open' })
await add(setup, 'Degree', ['degree'], { renewal: { days: 90 } })
await add(staff, 'Badge', ['name'], { begin: 'log-in' })

/** The person accepts on the page. */
const accept = async (to: Setup, page: Shown) =>
  (await answer(to, { request: sealedIn(page), decision: 'accept' })).location!
const openly = async (url: URL) => accept(setup, await open(setup, url.search.slice(1)))
const withLogIn = async (url: URL) => accept(staff, await browse(staff, Object.fromEntries(url.searchParams)))

/** The claims without the key that the credential is for. */
function claimsOf(credential: string): object {
  const { id: _, ...claims } = decodeJwtVc(credential).claims
  return claims
}

test.each([
  ['by value', {}, ['ES256']],
  ['by reference, with a transaction code', { byReference: true, txCode: true }, ['EdDSA']],
  ['by value, for a batch of keys', {}, ['ES256', 'EdDSA', 'ES256']],
])('an offer %s', async (_, options, algorithms) => {
  const credentials = await takeCredentials(await offer(setup, options), algorithms)
  expect(credentials).toHaveLength(algorithms.length)
  for (const credential of credentials)
    expect(decodeJwtVc(credential)).toMatchObject({
      issuerDid: setup.issuingDID,
      claims: { name: 'Alice' },
    })
})

/** A printed offer, as the wallet reads it. */
async function printed(
  name: string,
  { identifier }: Pick<Setup, 'identifier'> = setup,
): Promise<CredentialOfferObject> {
  const uri = encodeURIComponent(`${identifier}/offers/${name}`)
  const read = await client.resolveCredentialOffer(`openid-credential-offer://?credential_offer_uri=${uri}`)
  expect(faults('credential_offer-1_0', read)).toEqual([])
  return read
}

test.each([
  ['a printed offer', () => printed('Voucher'), { scope: 'Voucher' }],
  ['a printed offer of all', () => printed('all'), { details: ['Voucher'] }],
  ['the metadata of the issuer, by scope', async () => identifier, { scope: 'Voucher' }],
  ['the metadata of the issuer, by details', async () => identifier, { details: ['Voucher'] }],
])('without an offer for the person: %s', async (_, begin, asked) => {
  const dpop = await newDpop()
  const session = await authorize(await begin(), { ...asked, dpop }, openly)
  expect(session.token.token_type).toBe('DPoP')
  if ('scope' in asked) {
    expect(session.token.authorization_details).toBeUndefined()
    expect(decodeJwtVc(await take(session, 'Voucher'))).toMatchObject({ issuerDid: issuingDID })
    return
  }
  const [detail] = session.token.authorization_details as { credential_identifiers: [string] }[]
  // The function of the library sends no identifier, which is a must after details (§8.2).
  await expect(take(session, 'Voucher')).rejects.toThrow('invalid_credential_request')
  const credential = await takeIdentified(session, 'Voucher', detail!.credential_identifiers[0])
  expect(decodeJwtVc(credential)).toMatchObject({ issuerDid: issuingDID })
})

test('without an offer, two credentials by one consent', async () => {
  const session = await authorize(await printed('all'), { scope: 'Voucher Ticket' }, openly)
  for (const id of ['Voucher', 'Ticket'])
    expect(decodeJwtVc(await take(session, id))).toMatchObject({ issuerDid: issuingDID })
})

test.each([
  ['a printed offer', () => printed('Badge', staff)],
  ['the metadata of the issuer', async () => staff.identifier],
])('without an offer, a person who logs in: %s', async (_, begin) => {
  const session = await authorize(await begin(), { scope: 'Badge' }, withLogIn)
  expect(claimsOf(await take(session, 'Badge'))).toMatchObject({ name: 'Alice Adams' })
})

const credentials = [
  { credentialConfigurationId: 'Person', claims: { name: 'Alice' } },
  { credentialConfigurationId: 'Degree', claims: { degree: 'BSc' } },
  { credentialConfigurationId: 'Degree', claims: { degree: 'MSc' } },
].map((each) => ({ ...each, issuingDID }))
const offerSeveral = (count: number, more: object = {}) =>
  tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path,
    body: { credentials: credentials.slice(0, count), txCode: false, ...more },
  })

test('two credentials of one offer, in both grants', async () => {
  const { credentialOffer } = await offerSeveral(2)
  const redeemed = await redeemOffer(credentialOffer)
  expect(claimsOf(await take(redeemed, 'Degree'))).toMatchObject({ degree: 'BSc' })
  expect(claimsOf(await take(redeemed, 'Person'))).toMatchObject({ name: 'Alice' })
  const made = await offerSeveral(2, { grant: 'authorization_code' })
  const resolved = await client.resolveCredentialOffer(made.credentialOffer)
  expect(faults('credential_offer-1_0', resolved)).toEqual([])
  const authorized = await authorize(resolved, { scope: 'Person Degree' }, openly)
  expect(claimsOf(await take(authorized, 'Person'))).toMatchObject({ name: 'Alice' })
  expect(claimsOf(await take(authorized, 'Degree'))).toMatchObject({ degree: 'BSc' })
  for (const { recordId } of made.records)
    expect((await recordOf(setup, recordId)).protocolState).toBe('CredentialSent')
})

test('two datasets of one configuration, by their identifiers', async () => {
  const session = await redeemOffer((await offerSeveral(3)).credentialOffer)
  const details = session.token.authorization_details as {
    credential_configuration_id: string
    credential_identifiers: string[]
  }[]
  expect(details.map((each) => each.credential_configuration_id)).toEqual(['Person', 'Degree'])
  // Without an identifier, the request does not say which one.
  await expect(take(session, 'Degree')).rejects.toThrow('invalid_credential_request')
  const taken = []
  for (const each of details[1]!.credential_identifiers)
    taken.push(claimsOf(await takeIdentified(session, 'Degree', each)))
  expect(taken).toMatchObject([{ degree: 'BSc' }, { degree: 'MSc' }])
  expect(claimsOf(await take(session, 'Person'))).toMatchObject({ name: 'Alice' })
})

test.each([
  ['an offer', async () => redeemOffer((await offerDegree()).credentialOffer, await newDpop()), 'Degree'],
  [
    'the metadata of the issuer',
    async () => authorize(identifier, { scope: 'Voucher', dpop: await newDpop() }, openly),
    'Voucher',
  ],
])('a refresh token with DPoP is rotated, and gets the credential anew: %s', async (_, begin, id) => {
  const first = await begin()
  const before = await take(first, id)
  const second = await refresh(first)
  expect(second.token.token_type).toBe('DPoP')
  expect(second.token.refresh_token).not.toBe(first.token.refresh_token)
  // The identifiers do not change, and are there again only if they were there before.
  expect(second.token.authorization_details).toEqual(first.token.authorization_details)
  const after = await take(second, id)
  expect(after).not.toBe(before)
  expect(claimsOf(after)).toEqual(claimsOf(before))
  const third = await refresh(second)
  expect(await take(third, id)).not.toBe(after)
  // The key of another wallet does not help.
  await expect(refresh({ ...third, dpop: await newDpop() })).rejects.toThrow('invalid_grant')
})

function offerDegree(more: object = {}) {
  const [, degree] = credentials
  return tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path,
    body: { ...degree!, txCode: false, ...more },
  })
}

test('the library refuses a deferred credential, because it can be notified of', async () => {
  const { credentialOffer, recordId } = await offerDegree({ automaticIssuance: false })
  const { issuerMetadata, token } = await redeemOffer(credentialOffer)
  const transactionId = await takeLater({ issuerMetadata, token, dpop: undefined }, 'Degree')
  await tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
  const access = { issuerMetadata, accessToken: token.access_token }
  const refused = client.retrieveDeferredCredentials({ ...access, transactionId })
  // Its schema has the condition the wrong way round (§9.2).
  await expect(refused).rejects.toMatchObject({ response: { ok: false, response: { status: 200 } } })
  const { body } = await fetchDeferred(setup, token.access_token, transactionId)
  expect(claimsOf(body.credentials[0].credential)).toEqual({ degree: 'BSc' })
  expect(body.notification_id).toBe(recordId)
})

test('a wallet without a key has no refresh token', async () => {
  const session = await redeemOffer((await offerDegree()).credentialOffer)
  expect([session.token.token_type, session.token.refresh_token]).toEqual(['Bearer', undefined])
})
