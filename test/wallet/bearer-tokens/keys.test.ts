/** Discovery, rotation of keys, and a provider that is away. */
import { expect, test } from 'vitest'
import { createProvider } from '../../../src/wallet/bearer-tokens/provider.ts'
import { verifyToken } from '../../../src/wallet/bearer-tokens/verify.ts'
import { oidcSettingsOf } from '../../../src/foundation/config/oidc.ts'
import { readConfig } from '../../../src/foundation/config/config.ts'
import { createHttpClient } from '../../../src/foundation/net/http-client.ts'
import { startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { accepting, bearer, startIssuer, type Issuer } from './_issuer.ts'

/** Verifies tokens by a clock that the test sets. */
function startVerifier(issuer: Issuer, more: Record<string, string> = {}) {
  const settings = oidcSettingsOf(readConfig({ ...accepting(issuer), ...more }))!
  const http = createHttpClient({ allow: 'any' })
  const clock = { now: 0 }
  const provider = createProvider({ http, settings, now: () => clock.now })
  const verify = (token: string) =>
    verifyToken(token, provider, settings).then(
      ({ subject }) => subject,
      (error: Error) => error.message,
    )
  return { verify, clock, [Symbol.asyncDispose]: () => http.close() }
}

const unpublished = expect.stringMatching(/key that the provider does not publish/)

test('a new key of the provider is found, and the withdrawn one is refused', async () => {
  await using issuer = await startIssuer()
  await using agent = await startAgent({ ...accepting(issuer), OIDC_KEYS_REFRESH: '0' })
  const wallets = async (token: string) =>
    (await ask(agent, 'GET /wallets', { headers: bearer(token) })).status
  const before = await issuer.sign()
  expect(await wallets(before)).toBe(200)
  const second = await issuer.rotate('two', 'RS256')
  expect(await wallets(await issuer.sign({}, {}, second))).toBe(200)
  expect(await wallets(before)).toBe(401)
})

test('requests share a reading of the keys, and unknown key ids cause one in an interval', async () => {
  await using issuer = await startIssuer()
  await using verifier = startVerifier(issuer, { OIDC_KEYS_REFRESH: '30' })
  const { verify, clock } = verifier
  const tokens = await Promise.all(Array.from({ length: 10 }, () => issuer.sign()))
  expect(await Promise.all(tokens.map(verify))).toEqual(tokens.map(() => 'alice'))
  expect(issuer.state.reads).toBe(1)
  const second = await issuer.rotate('two')
  const token = await issuer.sign({}, {}, second)
  expect(await verify(token)).toEqual(unpublished)
  clock.now = 30_000
  expect(await verify(token)).toBe('alice')
  for (let index = 0; index < 5; index++)
    expect(await verify(await issuer.sign({}, { kid: 'x' }))).toEqual(unpublished)
  expect(issuer.state.reads).toBe(2)
})

test('while the provider is away, its keys serve for their lifetime', async () => {
  await using issuer = await startIssuer()
  await using verifier = startVerifier(issuer, { OIDC_KEYS_LIFETIME: '1h', OIDC_KEYS_REFRESH: '30' })
  const { verify, clock } = verifier
  const token = await issuer.sign()
  issuer.state.isAway = true
  expect(await verify(token)).toMatch(/^The OpenID provider http\S+ cannot be asked for its keys/)
  issuer.state.isAway = false
  expect(await verify(token)).toMatch(/cannot be asked/)
  clock.now = 30_000
  expect(await verify(token)).toBe('alice')
  issuer.state.isAway = true
  clock.now = 30_000 + 3_599_999
  expect(await verify(token)).toBe('alice')
  clock.now = 30_000 + 3_600_000
  expect(await verify(token)).toMatch(/cannot be asked/)
  issuer.state.isAway = false
  clock.now += 30_000
  expect(await verify(token)).toBe('alice')
})

test('keys are read again after five minutes, so that a withdrawn key ends', async () => {
  await using issuer = await startIssuer()
  await using verifier = startVerifier(issuer)
  const { verify, clock } = verifier
  const token = await issuer.sign()
  expect(await verify(token)).toBe('alice')
  await issuer.rotate('two')
  clock.now = 299_999
  expect(await verify(token)).toBe('alice')
  clock.now = 300_000
  expect(await verify(token)).toEqual(unpublished)
})

test('an agent whose provider is away answers 503, and API keys still work', async () => {
  await using issuer = await startIssuer()
  issuer.state.isAway = true
  await using agent = await startAgent(accepting(issuer))
  const reply = await ask(agent, 'GET /connections', { headers: bearer(await issuer.sign()) })
  expect(reply).toMatchObject({ status: 503, body: { type: 'error:ServiceUnavailable' } })
  expect(reply.headers.get('retry-after')).toBe('30')
  const { apiKey } = await agent.newTenant()
  expect((await ask(agent, 'GET /connections', { apiKey })).status).toBe(200)
})

test.each([['another issuer', { issuer: 'https://other.example' }]])(
  'metadata of %s are not used',
  async (_, { issuer: named }) => {
    await using issuer = await startIssuer()
    issuer.state.issuer = named
    await using verifier = startVerifier(issuer)
    expect(await verifier.verify(await issuer.sign())).toMatch(
      /metadata name the issuer https:\/\/other\.example/,
    )
  },
)
