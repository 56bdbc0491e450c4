/** The settings of bearer tokens: contradictions refuse the start, and the doctor checks the provider. */
import { expect, test } from 'vitest'
import { parseConfig } from '../../../src/foundation/config/config.ts'
import { oidcSettingsOf } from '../../../src/foundation/config/oidc.ts'
import { startAgent } from '../../support/agent.ts'
import { accepting, audience, startIssuer } from './_issuer.ts'

const wrongIn = (values: Record<string, string>) =>
  parseConfig(values).wrong.map(({ name, reason }) => `${name} ${reason}`)
const issuer = { OIDC_ISSUER: 'https://login.example' }
const valid = { ...issuer, OIDC_AUDIENCE: audience }

test.each<[string, Record<string, string>, RegExp]>([
  ['no audience and no client', issuer, /^OIDC_ISSUER is set without OIDC_AUDIENCE/],
  ['an audience without an issuer', { OIDC_AUDIENCE: 'a' }, /^OIDC_AUDIENCE is set without OIDC_ISSUER/],
  ['two providers', { ...valid, KEYCLOAK_ENABLED: 'true' }, /^KEYCLOAK_ENABLED is true, and OIDC_ISSUER/],
  ['an issuer with a query', { ...valid, OIDC_ISSUER: 'https://login.example/?a=b' }, /has a query/],
  ['an issuer that is not a URL', { ...valid, OIDC_ISSUER: 'login.example' }, /^OIDC_ISSUER/],
  ['the algorithm none', { ...valid, OIDC_ALGORITHMS: 'ES256,none' }, /^OIDC_ALGORITHMS names none, which/],
  ['a shared key', { ...valid, OIDC_ALGORITHMS: 'HS256' }, /^OIDC_ALGORITHMS names HS256, which/],
  ['no algorithm', { ...valid, OIDC_ALGORITHMS: ',' }, /^OIDC_ALGORITHMS names nothing/],
  ['a lifetime of nothing', { ...valid, OIDC_KEYS_LIFETIME: '0' }, /^OIDC_KEYS_LIFETIME/],
  ['a path with an empty part', { ...valid, OIDC_ROLES_CLAIM: 'a..b' }, /^OIDC_ROLES_CLAIM/],
])('a start is refused with %s', (_, values, expected) => {
  expect(wrongIn(values)).toEqual([expect.stringMatching(expected)])
})

test('without a default wallet and API keys, tokens are enough', () => {
  const closed = { DEFAULT_WALLET_ENABLED: 'false', API_KEY_ENABLED: 'false' }
  expect(wrongIn(closed)).toHaveLength(1)
  expect(wrongIn({ ...closed, ...valid })).toEqual([])
})

test('the variables of the Cloud Agent, with its defaults', () => {
  const { config } = parseConfig({ KEYCLOAK_ENABLED: 'true' })
  expect(oidcSettingsOf(config!)).toMatchObject({
    issuer: 'http://localhost:9980/realms/atala-demo',
    audience: undefined,
    clientId: 'prism-agent',
    rolesClaim: ['resource_access', 'prism-agent', 'roles'],
    scopeClaim: undefined,
    defaultRole: 'tenant',
  })
  expect(oidcSettingsOf(parseConfig({ KEYCLOAK_ENABLED: 'false' }).config!)).toBeUndefined()
})

test('the doctor reads the keys of the provider', async () => {
  await using provider = await startIssuer()
  const checkOf = async (variables: Record<string, string>) => {
    await using agent = await startAgent(variables)
    const { checks } = await agent.admin('GET /_system/doctor')
    return checks.find(({ name }) => name === 'openid-provider')
  }
  expect(await checkOf({})).toBeUndefined()
  expect(await checkOf(accepting(provider))).toMatchObject({ status: 'ok' })
  expect(await checkOf({ OIDC_ISSUER: provider.url, OIDC_CLIENT_ID: 'app' })).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('OIDC_AUDIENCE is not set'),
  })
  provider.state.issuer = 'https://other.example'
  expect(await checkOf(accepting(provider))).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('name the issuer https://other.example'),
  })
  provider.state.isAway = true
  expect(await checkOf(accepting(provider))).toMatchObject({ status: 'failed' })
})
