/**
 * The wallet library of Sphereon, which implements draft 15, takes credentials in both grants and both
 * formats, without an offer, and several of one offer. It has no refresh tokens.
 */
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { AccessTokenClient, OpenID4VCIClientV1_0_15 as Client } from '@sphereon/oid4vci-client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { publishSchema } from '../../support/tenants.ts'
import { answer, open, redirectUri, sealedIn, type Shown } from './_authorization.ts'
import { browse, useProvider } from './log-in/_browser.ts'
import { startIdentityProvider } from './log-in/_real-provider.ts'
import { addIssuer, offer, readOffer, recordOf, startIssuer, type Setup } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())
const { tenant, issuerId, issuingDID } = setup
const staff = await addIssuer(setup.agent, tenant)
const provider = await untilEnd(startIdentityProvider({ redirectUris: [`${staff.identifier}/log-in`] }))
await useProvider(staff, provider.url, { scope: 'openid profile' })
const schemaId = await publishSchema(tenant, issuingDID, { required: ['name'] })
const add = (to: Setup, configurationId: string, more: object = {}) =>
  tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId: to.issuerId },
    body: { configurationId, format: 'dc+sd-jwt', schemaId, issuingDID, ...more },
  })
await add(setup, 'PersonSd')
await add(setup, 'Voucher', {
  format: 'jwt_vc_json',
  schemaId: await publishSchema(tenant, issuingDID, { name: 'voucher', required: [] }),
  begin: 'open',
})
await add(staff, 'Badge', { begin: 'log-in' })

/** Requests the credential with a new ES256 key. */
async function take(
  client: Client,
  credentialConfigurationId: string,
  format: 'jwt_vc_json' | 'dc+sd-jwt',
  credentialIdentifier?: string,
) {
  // It has one nonce for all requests.
  await client.acquireNonce()
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  const response = await client.acquireCredentials({
    ...(credentialIdentifier === undefined ? { credentialConfigurationId } : { credentialIdentifier }),
    format,
    alg: 'ES256',
    jwk,
    proofCallbacks: {
      signCallback: ({ header, payload }) =>
        new SignJWT(payload).setProtectedHeader({ ...header, alg: 'ES256' }).sign(privateKey),
    },
  })
  const [first] = response.credentials as { credential: string }[]
  return { jwk, credential: first!.credential }
}

/** The person enters the transaction code at the page of the authorization server. */
async function consent(url: string, txCode: string | undefined): Promise<string> {
  return accept(setup, await open(setup, new URL(url).searchParams.toString()), txCode)
}

async function accept(to: Setup, page: Shown, txCode?: string): Promise<string> {
  const { location } = await answer(to, { request: sealedIn(page), decision: 'accept', tx_code: txCode })
  return location!.searchParams.get('code')!
}

const configurations = [
  ['Person', 'jwt_vc_json'],
  ['PersonSd', 'dc+sd-jwt'],
] as const

test.each(configurations)('a pre-authorized code for %s (%s)', async (credentialConfigurationId, format) => {
  const { credentialOffer, txCode } = await offer(setup, {
    credentialConfigurationId,
    byReference: true,
    txCode: true,
  })
  const client = await Client.fromURI({
    uri: credentialOffer,
    resolveOfferUri: true,
    retrieveServerMetadata: true,
  })
  await client.acquireAccessToken({ pin: txCode! })
  expectCredential(await take(client, credentialConfigurationId, format), format)
})

test.each(configurations)('an authorization code for %s (%s)', async (credentialConfigurationId, format) => {
  const { credentialOffer, txCode } = await offer(setup, {
    credentialConfigurationId,
    grant: 'authorization_code',
  })
  expect((await readOffer(credentialOffer)).grants).toHaveProperty('authorization_code')
  const client = await Client.fromURI({
    uri: credentialOffer,
    clientId: 'wallet',
    retrieveServerMetadata: true,
    createAuthorizationRequestURL: false,
  })
  const url = await client.createAuthorizationRequestUrl({
    authorizationRequest: { redirectUri, scope: credentialConfigurationId, clientId: 'wallet' },
  })
  const code = await consent(url, txCode)
  await client.acquireAccessToken({ code, redirectUri })
  expectCredential(await take(client, credentialConfigurationId, format), format)
})

/** A wallet with a printed offer of an issuer, or with its metadata alone. */
const printed = ({ identifier }: Setup, id: string) =>
  Client.fromURI({
    uri: `openid-credential-offer://?credential_offer_uri=${encodeURIComponent(`${identifier}/offers/${id}`)}`,
    resolveOfferUri: true,
    clientId: 'wallet',
    createAuthorizationRequestURL: false,
  })
async function fromMetadata({ identifier }: Setup) {
  const client = await Client.fromCredentialIssuer({
    credentialIssuer: identifier,
    clientId: 'wallet',
    createAuthorizationRequestURL: false,
  })
  // An issuer without `authorization_servers` is its own server (§12.2.4), which the library does not know.
  client.endpointMetadata.authorization_server = identifier
  return client
}
const details = (...ids: string[]) =>
  ids.map((id) => ({ type: 'openid_credential' as const, credential_configuration_id: id }))

/** The identifiers of the token response, for each configuration. */
function identifiersOf({ accessTokenResponse }: Client): string[][] {
  const all = (accessTokenResponse.authorization_details ?? []) as unknown as {
    credential_identifiers: string[]
  }[]
  return all.map((each) => each.credential_identifiers)
}

/** The address of the issuer's page. */
const request = (client: Client, asked: { scope?: string; authorizationDetails?: object[] } = {}) =>
  client.createAuthorizationRequestUrl({
    authorizationRequest: { redirectUri, clientId: 'wallet', ...asked } as never,
  })

test.each([
  ['a printed offer', () => printed(setup, 'Voucher'), { scope: 'Voucher' }],
  ['a printed offer of all', () => printed(setup, 'all'), { scope: 'Voucher' }],
  ['the metadata, by scope', () => fromMetadata(setup), { scope: 'Voucher' }],
  ['the metadata, by details', () => fromMetadata(setup), { authorizationDetails: details('Voucher') }],
])('without an offer for the person: %s', async (_, begin, asked) => {
  const client = await begin()
  const code = await consent(await request(client, asked), undefined)
  await client.acquireAccessToken({ code, redirectUri })
  // After details, the identifier is a must (§8.2).
  const [identifiers] = identifiersOf(client)
  const { credential } = await take(client, 'Voucher', 'jwt_vc_json', identifiers?.[0])
  expect(decodeJwtVc(credential)).toMatchObject({ issuerDid: issuingDID })
})

test.each([
  ['a printed offer', () => printed(staff, 'Badge')],
  ['the metadata', () => fromMetadata(staff)],
])('without an offer, a person who logs in: %s', async (_, begin) => {
  const client = await begin()
  const url = new URL(await request(client, { scope: 'Badge' }))
  const code = await accept(staff, await browse(staff, Object.fromEntries(url.searchParams)))
  await client.acquireAccessToken({ code, redirectUri })
  const { credential } = await take(client, 'Badge', 'dc+sd-jwt')
  expect(decodeSdJwt(credential).claims).toMatchObject({ name: 'Alice Adams' })
})

const credentials = ['Alice', 'Bob'].map((name) => ({
  credentialConfigurationId: 'PersonSd',
  claims: { name },
  issuingDID,
}))
const offerSeveral = (grant: 'authorization_code' | 'pre-authorized_code', also: object[]) =>
  tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path: { issuerId },
    body: { credentials: [credentials[0]!, ...also], grant, txCode: false } as never,
  })
const person = { credentialConfigurationId: 'Person', claims: { name: 'Alice' }, issuingDID }

test.each(['authorization_code', 'pre-authorized_code'] as const)(
  'two credentials of one offer: %s',
  async (grant) => {
    const { credentialOffer, records } = await offerSeveral(grant, [person])
    const client = await Client.fromURI({
      uri: credentialOffer,
      clientId: 'wallet',
      createAuthorizationRequestURL: false,
    })
    const isPushed = grant === 'authorization_code'
    const code = isPushed ? await consent(await request(client), undefined) : undefined
    await client.acquireAccessToken(code === undefined ? {} : { code, redirectUri })
    const [first, second] = identifiersOf(client)
    const one = await take(client, 'PersonSd', 'dc+sd-jwt', first![0])
    expectCredential(one, 'dc+sd-jwt')
    const other = await take(client, 'Person', 'jwt_vc_json', second![0])
    expectCredential(other, 'jwt_vc_json')
    for (const { recordId } of records)
      expect((await recordOf(setup, recordId)).protocolState).toBe('CredentialSent')
  },
)

test('the library sends no refresh token', async () => {
  const metadata = await printed(setup, 'Voucher')
  const refresh = new AccessTokenClient().acquireAccessTokenUsingRequest({
    accessTokenRequest: { grant_type: 'refresh_token', refresh_token: 'a token' } as never,
    metadata: metadata.endpointMetadata,
  })
  await expect(refresh).rejects.toThrow('Only pre-authorized-code or authorization code flows are supported')
})

/**
 * It prefers the only configuration of an offer to an identifier, which is a must after details (§8.2), and
 * is the only way to say which of two datasets.
 */
test('of an offer of one configuration, the library sends no identifier', async () => {
  const { credentialOffer } = await offerSeveral('pre-authorized_code', [credentials[1]!])
  const several = await Client.fromURI({ uri: credentialOffer })
  await several.acquireAccessToken({})
  const [two] = identifiersOf(several)
  expect(two).toHaveLength(2)
  await expect(take(several, 'PersonSd', 'dc+sd-jwt', two![1])).rejects.toThrow('status: 400')
  const one = await printed(setup, 'Voucher')
  const code = await consent(await request(one), undefined)
  await one.acquireAccessToken({ code, redirectUri })
  const [id] = identifiersOf(one)
  await expect(take(one, 'Voucher', 'jwt_vc_json', id![0])).rejects.toThrow('status: 400')
})

type Taken = Awaited<ReturnType<typeof take>>

function expectCredential({ credential, jwk }: Taken, format: 'jwt_vc_json' | 'dc+sd-jwt'): void {
  if (format === 'jwt_vc_json')
    expect(decodeJwtVc(credential)).toMatchObject({ issuerDid: setup.issuingDID, claims: { name: 'Alice' } })
  else expect(decodeSdJwt(credential).payload).toMatchObject({ iss: setup.issuingDID, cnf: { jwk } })
}
