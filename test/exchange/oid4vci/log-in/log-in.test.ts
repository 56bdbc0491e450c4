/** A log-in at `oidc-provider`, with each kind of client, and the browser that did not begin it. */
import { expect, test } from 'vitest'
import { startAgent } from '../../../support/agent-from-sources.ts'
import { untilEnd } from '../../../support/shared.ts'
import { addIssuer } from '../_wallet.ts'
import { comeBack, depart, logIn, request, sent, useProvider, visit, type Place } from './_log-in.ts'
import { startIdentityProvider } from './_real-provider.ts'

const agent = await untilEnd(startAgent())
const tenant = await agent.newTenant('issuer')
const place: Place = await addIssuer(agent, tenant)
const redirectUris = [`${place.identifier}/log-in`]
const provider = await untilEnd(startIdentityProvider({ redirectUris }))
await useProvider(place, provider.url, { scope: 'openid profile email staff' })

const seconds = () => Math.floor(Date.now() / 1_000)

test('the person and the claims of the ID token come back with the request', async () => {
  const { redirect, cookie } = await depart(place)
  const { searchParams } = new URL(redirect)
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'issuer',
    scope: 'openid profile email staff',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    redirect_uri: redirectUris[0],
  })
  expect(cookie).toMatch(/^vci=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
  const returned = await comeBack(place, await visit(place, redirect), sent(cookie))
  const claims = { name: 'Alice Adams', email: 'alice@example.org', department: 'Sales' }
  expect(returned).toEqual({ request, identity: { iss: provider.url, sub: 'alice', claims } })
})

test.each(['client_secret_post', 'private_key_jwt'] as const)(
  'by %s, with the claims of UserInfo',
  async (method) => {
    const { id: keyId } = await tenant.call('POST /issuer-certificates/development', {
      body: { commonName: 'Acme', names: [{ type: 'uri', value: 'https://acme.example' }] },
    })
    const { publicKey } = await tenant.call('GET /issuer-certificates/{id}', { path: { id: keyId } })
    const other = await addIssuer(agent, tenant)
    await using idp = await startIdentityProvider({
      redirectUris: [`${other.identifier}/log-in`],
      method,
      keys: [publicKey],
    })
    idp.state.account = 'bob'
    idp.state.acr = 'urn:high'
    await useProvider(other, idp.url, {
      scope: 'openid staff',
      claimsFrom: 'userinfo',
      acrValues: ['urn:high'],
      maxAge: 60,
      ...(method === 'private_key_jwt' && { keyId }),
    })
    const identity = await logIn(other)
    expect(identity).toEqual({
      iss: idp.url,
      sub: 'bob',
      acr: 'urn:high',
      authTime: expect.any(Number),
      claims: { department: 'Tests' },
    })
    expect(Math.abs((identity as { authTime: number }).authTime - seconds())).toBeLessThan(30)
    idp.state.acr = 'urn:low'
    expect(await logIn(other)).toEqual({
      error: 'server_error',
      reason: expect.stringContaining('acr is not accepted'),
    })
  },
)

test('a person who does not log in is told to the wallet', async () => {
  provider.state.account = undefined
  try {
    expect(await logIn(place)).toEqual({
      error: 'access_denied',
      reason: 'The person did not log in at the OpenID provider.',
    })
  } finally {
    provider.state.account = 'alice'
  }
})

test('another browser, and one without the cookie, cannot come back', async () => {
  const [victim, thief] = [await depart(place), await depart(place)]
  const back = await visit(place, thief.redirect)
  const refused = /begun in another browser, or this one keeps no cookies/
  await expect(comeBack(place, back, sent(victim.cookie))).rejects.toThrow(refused)
  await expect(comeBack(place, back)).rejects.toThrow(refused)
  await expect(comeBack(place, back, `${sent(victim.cookie)}; ${sent(thief.cookie)}`)).rejects.toThrow(
    refused,
  )
  expect(await comeBack(place, back, `other=1; ${sent(thief.cookie)}`)).toHaveProperty('identity')
})

test('log-ins in two windows of a browser share the cookie', async () => {
  const first = await depart(place)
  const second = await depart(place, sent(first.cookie))
  expect(sent(second.cookie)).toBe(sent(first.cookie))
  for (const { redirect } of [first, second])
    expect(await comeBack(place, await visit(place, redirect), sent(second.cookie))).toHaveProperty(
      'identity',
    )
  // A value that this agent does not make is replaced.
  expect(sent((await depart(place, 'vci=chosen')).cookie)).not.toBe('vci=chosen')
})

test('a return that was not begun here, for this issuer and this provider, is refused', async () => {
  const { redirect, cookie } = await depart(place)
  const back = await visit(place, redirect)
  const other = await addIssuer(agent, tenant)
  await useProvider(other, provider.url)
  await expect(comeBack(other, back, sent(cookie))).rejects.toThrow('it was not begun here')
  const changed = new URL(back)
  changed.searchParams.set('state', `${changed.searchParams.get('state')}A`)
  await expect(comeBack(place, changed, sent(cookie))).rejects.toThrow('The log-in cannot be continued')
  changed.searchParams.delete('state')
  await expect(comeBack(place, changed, sent(cookie))).rejects.toThrow('The log-in cannot be continued')
  await useProvider(place, 'https://idp.example')
  try {
    await expect(comeBack(place, back, sent(cookie))).rejects.toThrow('the provider has changed')
  } finally {
    await useProvider(place, provider.url, { scope: 'openid profile email staff' })
  }
})

test('a code is redeemed once', async () => {
  const { redirect, cookie } = await depart(place)
  const back = await visit(place, redirect)
  expect(await comeBack(place, back, sent(cookie))).toHaveProperty('identity')
  const again = await comeBack(place, back, sent(cookie))
  expect('refusal' in again && again.refusal.message).toContain('invalid_grant')
})
