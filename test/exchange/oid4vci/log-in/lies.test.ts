/** Lies of an OpenID provider, and of whoever is between: each is refused by name. */
import { afterEach, expect, test } from 'vitest'
import { startAgent } from '../../../support/agent-from-sources.ts'
import { untilEnd } from '../../../support/shared.ts'
import { addIssuer } from '../_wallet.ts'
import { depart, logIn, useProvider, type Place } from './_log-in.ts'
import { startLyingProvider, type Lies } from './_lying-provider.ts'

const agent = await untilEnd(startAgent({ OIDC_KEYS_REFRESH: '0' }))
const tenant = await agent.newTenant('issuer')
const place: Place = await addIssuer(agent, tenant)
const provider = await untilEnd(startLyingProvider())
await useProvider(place, provider.url)

const now = () => Math.floor(Date.now() / 1_000)
const thief = 'https://thief.example'

afterEach(async () => {
  provider.state.lies = {}
  await useProvider(place, provider.url)
})

test('without a lie, the person is logged in', async () => {
  const claims = { name: 'Alice Adams' }
  expect(await logIn(place)).toEqual({
    iss: provider.url,
    sub: 'alice',
    authTime: expect.any(Number),
    claims,
  })
})

test.each<[lies: Lies, reason: string]>([
  [{ answer: { iss: thief } }, 'the answer is of another provider (iss)'],
  [{ answer: { iss: undefined } }, 'the answer is of another provider (iss)'],
  [{ answer: { iss: thief, error: 'access_denied' } }, 'the answer is of another provider (iss)'],
  [{ answer: { code: undefined } }, 'came back without a code'],
  [{ answer: { code: 'another' } }, 'its token endpoint answered 400 (invalid_grant)'],
  [{ answer: { code: undefined, error: 'login_required' } }, 'it answered login_required'],
  [{ answer: { code: undefined, error: '<b>' } }, 'it answered with an error'],
  [{ claims: { iss: thief } }, 'its ID token is of another issuer'],
  [{ claims: { aud: 'another' } }, 'its ID token is for another audience'],
  [{ claims: { aud: undefined } }, 'its ID token has no claim aud'],
  [{ claims: { aud: ['issuer', 'another'] } }, 'does not name its client (azp)'],
  [{ claims: { aud: ['issuer', 'another'], azp: 'another' } }, 'its ID token is for another client (azp)'],
  [{ claims: { azp: 'another' } }, 'its ID token is for another client (azp)'],
  [{ claims: { nonce: 'another' } }, 'its ID token has the nonce of another log-in'],
  [{ claims: { nonce: undefined } }, 'its ID token has the nonce of another log-in'],
  [{ claims: { exp: now() - 120 } }, 'its ID token has expired'],
  [{ claims: { exp: undefined } }, 'its ID token has no claim exp'],
  [{ claims: { iat: now() + 120 } }, 'its ID token was issued in the future'],
  [{ claims: { iat: now() - 700 } }, 'its ID token has expired'],
  [{ claims: { iat: undefined } }, 'its ID token has no claim iat'],
  [{ claims: { sub: undefined } }, 'its ID token is malformed: claims.sub'],
  [{ claims: { sub: 'a\nlice' } }, 'its ID token is malformed: claims.sub'],
  [{ signedBy: 'none' }, 'signed with an algorithm that is not accepted'],
  [{ signedBy: 'foreign' }, 'signed with a key that the provider does not publish'],
  [{ signedBy: 'other' }, 'its ID token has a wrong signature'],
  [{ token: { status: 200, body: { access_token: 'only' } } }, 'answered 200, and not with an ID token'],
  [{ token: { status: 200, body: { id_token: 'a.b.c' } } }, 'its ID token is not a signed JWT'],
  [{ token: { status: 302, body: {} } }, 'its token endpoint answered 302'],
  [{ claims: { about: 'x'.repeat(17_000) } }, 'it says more about the person than 16384 characters'],
])('%j is refused', async (lies, reason) => {
  provider.state.lies = lies
  expect(await logIn(place)).toEqual({ error: 'server_error', reason: expect.stringContaining(reason) })
})

test.each<[settings: object, lies: Lies, reason: string]>([
  [{ acrValues: ['urn:high'] }, {}, 'acr is not accepted'],
  [{ acrValues: ['urn:high'] }, { claims: { acr: 'urn:low' } }, 'acr is not accepted'],
  [{ maxAge: 60 }, { claims: { auth_time: now() - 120 } }, 'too old (auth_time)'],
  [{ maxAge: 60 }, { claims: { auth_time: undefined } }, 'too old (auth_time)'],
  [{ claimsFrom: 'userinfo' }, { userInfo: { sub: 'bob' } }, 'sub of UserInfo is not that of the ID token'],
  [{ claimsFrom: 'userinfo' }, { userInfo: { sub: undefined } }, 'sub of UserInfo is not'],
])('for a log-in with %j, %j is refused', async (settings, lies, reason) => {
  await useProvider(place, provider.url, settings)
  provider.state.lies = lies
  expect(await logIn(place)).toEqual({ error: 'server_error', reason: expect.stringContaining(reason) })
})

test('what the issuer asks for, and what the provider says right, is accepted', async () => {
  await useProvider(place, provider.url, {
    acrValues: ['urn:high', 'urn:higher'],
    maxAge: 60,
    claimsFrom: 'userinfo',
  })
  provider.state.lies = { claims: { acr: 'urn:higher', aud: ['issuer', 'another'], azp: 'issuer' } }
  expect(await logIn(place)).toMatchObject({ acr: 'urn:higher', claims: { name: 'Alice of UserInfo' } })
  const [asked, redeemed] = provider.state.requests.slice(-2)
  expect(asked!.get('acr_values')).toBe('urn:high urn:higher')
  expect(asked!.get('max_age')).toBe('60')
  expect(redeemed!.get('client_secret')).toBe('a secret: of the issuer')
})

test('a provider that is busy, slow or away is asked again later', async () => {
  provider.state.lies = { token: { status: 503, body: {} } }
  expect(await logIn(place)).toMatchObject({ error: 'temporarily_unavailable' })
  provider.state.lies = { answer: { code: undefined, error: 'temporarily_unavailable' } }
  expect(await logIn(place)).toMatchObject({ error: 'temporarily_unavailable' })
  provider.state.lies = { delayMs: 6_000 }
  expect(await logIn(place)).toMatchObject({
    error: 'temporarily_unavailable',
    reason: expect.stringContaining('did not answer within 5000 ms'),
  })
  await useProvider(place, 'http://127.0.0.1:9')
  await expect(depart(place)).rejects.toMatchObject({ code: 'temporarily_unavailable' })
})

test.each<[metadata: Record<string, unknown>, code: string, reason: string]>([
  [{ issuer: thief }, 'temporarily_unavailable', `its metadata name the issuer ${thief}`],
  [{ authorization_endpoint: 'javascript:alert(1)' }, 'server_error', 'its metadata'],
  [{ token_endpoint: undefined }, 'server_error', 'its metadata'],
])('metadata with %j are refused', async (metadata, code, reason) => {
  await using other = await startLyingProvider()
  other.state.lies = { metadata }
  await useProvider(place, other.url)
  await expect(depart(place)).rejects.toMatchObject({ code, message: expect.stringContaining(reason) })
})

test('a provider that does not say that it sends iss may leave it out, and must not send another', async () => {
  await using other = await startLyingProvider()
  const metadata = { authorization_response_iss_parameter_supported: undefined, userinfo_endpoint: undefined }
  other.state.lies = { metadata, answer: { iss: undefined } }
  await useProvider(place, other.url)
  expect(await logIn(place)).toMatchObject({ sub: 'alice' })
  other.state.lies = { metadata, answer: { iss: thief } }
  expect(await logIn(place)).toMatchObject({ error: 'server_error' })
  other.state.lies = { metadata }
  await useProvider(place, other.url, { claimsFrom: 'userinfo' })
  expect(await logIn(place)).toMatchObject({ reason: expect.stringContaining('it has no UserInfo') })
})

test('an issuer is compared by characters', async () => {
  await using other = await startLyingProvider()
  await useProvider(place, `${other.url}/`)
  await expect(depart(place)).rejects.toThrow('its metadata name the issuer')
})
