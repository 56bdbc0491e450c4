/** Authentication and authorization: which header opens which endpoint, in each configuration. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccess } from '../../daemon/middleware/access.ts'
import { defaultId } from '../../src/wallet/tenants.ts'
import { adminToken, sharedAgent, startAgent, type TestAgent } from '../support/agent.ts'
import { ask } from '../support/ask.ts'

/** One endpoint per access level. */
const tenantPath = '/events/webhooks'
const adminPath = '/iam/entities'
const sharedPath = '/wallets'

type Headers = Record<string, string>
type Expected = [status: number, type?: string]

const noKey: Expected = [401, 'error:AuthenticationError:InvalidCredentials']
const emptyKey: Expected = [401, 'error:AuthenticationError:ApiKeyAuthenticationError']
const notAdmin: Expected = [401, 'error:AuthenticationError:AdminApiKeyAuthenticationError']
const wrongRole: Expected = [403, 'error:AuthenticationError:InvalidRole']

const admin = { 'x-admin-api-key': adminToken }
const wrongAdmin = { 'x-admin-api-key': `${adminToken}!` }

async function answer(agent: TestAgent, path: string, headers: Headers): Promise<Expected> {
  const { status, body } = await ask(agent, `GET ${path}`, { headers })
  return body.type === undefined ? [status] : [status, body.type]
}

const details = async (agent: TestAgent, path: string, headers: Headers): Promise<string> =>
  (await ask(agent, `GET ${path}`, { headers })).body.detail

/** The wallets that a client with these headers sees. */
const walletsOf = async (agent: TestAgent, headers: Headers): Promise<{ id: string; name: string }[]> =>
  (await ask(agent, `GET ${sharedPath}`, { headers })).body.contents

describe('with registered keys', () => {
  let agent: TestAgent
  let apiKey: string
  let walletId: string
  let other: { walletId: string; apiKey: string }

  beforeAll(async () => {
    agent = await startAgent({ DEFAULT_WALLET_ENABLED: 'false' })
    ;({ apiKey, walletId } = await agent.newTenant())
    other = await agent.newTenant()
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  test('a tenant endpoint accepts only a registered key', async () => {
    expect(await answer(agent, tenantPath, { apikey: apiKey })).toEqual([200])
    expect(await answer(agent, tenantPath, {})).toEqual(noKey)
    expect(await answer(agent, tenantPath, { apikey: '' })).toEqual(emptyKey)
    expect(await answer(agent, tenantPath, { apikey: `${apiKey}x` })).toEqual(noKey)
    expect(await answer(agent, tenantPath, { apikey: apiKey.toUpperCase() })).toEqual(noKey)
    expect(await answer(agent, tenantPath, admin)).toEqual(noKey)
  })

  test('the details of refused keys are those of the Cloud Agent', async () => {
    expect(await details(agent, tenantPath, {})).toMatch(/^ApiKey key is not provided/)
    expect(await details(agent, tenantPath, { apikey: '' })).toBe('Empty `apikey` header provided')
    expect(await details(agent, tenantPath, { apikey: 'unknown-key' })).toBe('Invalid API key')
    expect(await details(agent, adminPath, wrongAdmin)).toBe(
      'Invalid Admin API key in header `x-admin-api-key`',
    )
    expect(await details(agent, adminPath, { 'x-admin-api-key': '' })).toBe(
      'Empty `x-admin-api-key` header provided',
    )
    expect(await details(agent, adminPath, {})).toBe(
      'Admin API key is not provided in header `x-admin-api-key`',
    )
  })

  test('an admin endpoint accepts the administrator’s token and distinguishes a wrong role from a wrong key', async () => {
    expect(await answer(agent, adminPath, admin)).toEqual([200])
    expect(await answer(agent, adminPath, {})).toEqual(notAdmin)
    expect(await answer(agent, adminPath, { 'x-admin-api-key': '' })).toEqual(notAdmin)
    expect(await answer(agent, adminPath, wrongAdmin)).toEqual(notAdmin)
    expect(await answer(agent, adminPath, { 'x-admin-api-key': adminToken.slice(0, -1) })).toEqual(notAdmin)
    expect(await answer(agent, adminPath, { apikey: apiKey })).toEqual(wrongRole)
    expect(await answer(agent, adminPath, { apikey: 'unknown-key' })).toEqual(notAdmin)
    expect(await answer(agent, adminPath, { apikey: '' })).toEqual(notAdmin)
    expect(await answer(agent, adminPath, { ...wrongAdmin, apikey: apiKey })).toEqual(notAdmin)
    expect(await answer(agent, adminPath, { ...admin, apikey: 'unknown-key' })).toEqual([200])
  })

  test('a shared endpoint accepts both, the administrator’s first', async () => {
    const seen = async (headers: Headers) => (await walletsOf(agent, headers)).map(({ id }) => id)
    expect(await seen(admin)).toEqual(expect.arrayContaining([walletId, other.walletId]))
    expect(await seen({ apikey: apiKey })).toEqual([walletId])
    expect(await seen({ ...admin, apikey: apiKey })).toEqual(
      expect.arrayContaining([walletId, other.walletId]),
    )
    expect(await seen({ ...wrongAdmin, apikey: apiKey })).toEqual([walletId])
  })

  test('a shared endpoint refuses other credentials and names the header that was sent', async () => {
    expect(await answer(agent, sharedPath, {})).toEqual(notAdmin)
    expect(await answer(agent, sharedPath, wrongAdmin)).toEqual(notAdmin)
    expect(await answer(agent, sharedPath, { apikey: 'unknown-key' })).toEqual(noKey)
    expect(await answer(agent, sharedPath, { apikey: '' })).toEqual(emptyKey)
  })

  test('a tenant reads its own wallet, and another tenant’s wallet looks like a missing one', async () => {
    const read = async (id: string) => {
      const response = await agent.send('GET', `/wallets/${id}`, { headers: { apikey: apiKey } })
      const text = await response.text()
      return {
        status: response.status,
        text: text.replace(id, '<id>').replace(/error:instance:[0-9a-f-]+/, '<instance>'),
      }
    }
    expect((await read(walletId)).status).toBe(200)
    const unknown = await read('6d0c1a9c-6f5e-4b6f-8a3e-0d6c1f0b2a11')
    expect(unknown.status).toBe(404)
    expect(await read(other.walletId)).toEqual(unknown)
  })

  test('a tenant cannot create wallets', async () => {
    const before = (await agent.admin('GET /wallets')).contents
    expect(await ask(agent, 'POST /wallets', { apiKey, body: { name: 'second' } })).toMatchObject({
      status: 400,
      body: { type: 'error:WalletManagementServiceError:TooManyPermittedWallet' },
    })
    expect((await agent.admin('GET /wallets')).contents).toEqual(before)
  })

  test('a removed key is refused, and a public endpoint needs none', async () => {
    const gone = await agent.newTenant()
    await agent.admin('DELETE /iam/apikey-authentication', {
      body: { entityId: gone.entityId, apiKey: gone.apiKey },
    })
    expect(await answer(agent, tenantPath, { apikey: gone.apiKey })).toEqual(noKey)
    expect(await answer(agent, '/_system/health', { apikey: gone.apiKey })).toEqual([200])
  })

  test('credentials are checked before the body is read, and the path before the credentials', async () => {
    const notJson = { headers: {}, body: '{' }
    expect((await agent.send('POST', tenantPath, notJson)).status).toBe(401)
    expect((await agent.send('POST', adminPath, notJson)).status).toBe(401)
    expect((await agent.send('GET', `${tenantPath}?limit=none`)).status).toBe(401)
    expect((await agent.send('GET', `${tenantPath}/not-a-uuid`)).status).toBe(404)
    expect((await agent.send('POST', '/nowhere', notJson)).status).toBe(404)
  })
})

test('with API_KEY_ENABLED=false every client is the default tenant and the header is not read', async () => {
  const agent = await sharedAgent({ API_KEY_ENABLED: 'false' })
  expect(await answer(agent, tenantPath, {})).toEqual([200])
  expect(await answer(agent, tenantPath, { apikey: '' })).toEqual([200])
  expect(await answer(agent, tenantPath, { apikey: 'whatever' })).toEqual([200])
  expect(await answer(agent, sharedPath, {})).toEqual([200])
  expect(await answer(agent, sharedPath, wrongAdmin)).toEqual(notAdmin)
  expect(await answer(agent, sharedPath, { ...wrongAdmin, apikey: 'whatever' })).toEqual(notAdmin)
  expect(await answer(agent, adminPath, {})).toEqual(notAdmin)
  expect(await answer(agent, adminPath, { apikey: 'whatever' })).toEqual(notAdmin)
})

test('with API_KEY_AUTHENTICATE_AS_DEFAULT_USER any non-empty key is the default tenant’s', async () => {
  const agent = await sharedAgent({ API_KEY_AUTHENTICATE_AS_DEFAULT_USER: 'true' })
  await agent.newTenant()
  expect(await walletsOf(agent, { apikey: 'whatever' })).toMatchObject([{ id: defaultId }])
  expect(await answer(agent, tenantPath, { apikey: 'whatever' })).toEqual([200])
  expect(await answer(agent, tenantPath, { apikey: '' })).toEqual(emptyKey)
  expect(await answer(agent, tenantPath, {})).toEqual(noKey)
  expect(await answer(agent, adminPath, { apikey: 'whatever' })).toEqual(wrongRole)
})

describe('with API_KEY_AUTO_PROVISIONING', () => {
  let agent: TestAgent

  beforeAll(async () => {
    agent = await startAgent({ API_KEY_AUTO_PROVISIONING: 'true', DEFAULT_WALLET_ENABLED: 'false' })
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  const walletsWith = (apikey: string) => walletsOf(agent, { apikey })

  test('an unknown key gets one new wallet and entity, also with concurrent requests', async () => {
    const before = (await agent.admin('GET /wallets')).contents.length
    const all = await Promise.all(Array.from({ length: 20 }, () => walletsWith('a-new-key-of-the-tests')))
    expect(new Set(all.map(([wallet]) => wallet!.id)).size).toBe(1)
    expect(await walletsWith('a-new-key-of-the-tests')).toEqual([
      expect.objectContaining({ name: 'Auto provisioned wallet' }),
    ])
    expect((await agent.admin('GET /wallets')).contents).toHaveLength(before + 1)
    const entities = (await agent.admin('GET /iam/entities')).contents.filter(
      ({ walletId }) => walletId === all[0]![0]!.id,
    )
    expect(entities).toEqual([expect.objectContaining({ name: 'Auto provisioned entity' })])
  })

  test('requests whose authentication overlaps get one wallet for one new key', async () => {
    const { tenant } = createAccess(agent.agent)
    const context = { address: '', requestId: '', log: agent.agent.log, thids: new Set<string>() }
    const all = await Promise.all(
      Array.from({ length: 20 }, () => tenant({ apikey: 'another-new-key-of-the-tests' }, context)),
    )
    expect(new Set(all.map(({ walletId }) => walletId)).size).toBe(1)
    expect(await walletsWith('another-new-key-of-the-tests')).toEqual([
      expect.objectContaining({ id: all[0]!.walletId }),
    ])
  })

  test('an unknown key that is too short creates nothing and gets a reason', async () => {
    const before = (await agent.admin('GET /wallets')).contents.length
    expect(await ask(agent, 'GET /did-registrar/dids', { apiKey: 'short' })).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('16 to 128 characters') },
    })
    expect((await agent.admin('GET /wallets')).contents).toHaveLength(before)
  })

  test('two unknown keys get two wallets', async () => {
    const [[one], [two]] = [
      await walletsWith('first-key-of-the-tests'),
      await walletsWith('second-key-of-the-tests'),
    ]
    expect(one!.id).not.toBe(two!.id)
  })

  test('a registered key behaves as registered', async () => {
    const { apiKey, walletId } = await agent.newTenant('registered')
    expect(await walletsWith(apiKey)).toEqual([expect.objectContaining({ id: walletId, name: 'registered' })])
  })

  test('a removed key creates nothing', async () => {
    const { apiKey, entityId } = await agent.newTenant()
    await agent.admin('DELETE /iam/apikey-authentication', { body: { entityId, apiKey } })
    const before = (await agent.admin('GET /wallets')).contents.length
    expect(await answer(agent, tenantPath, { apikey: apiKey })).toEqual(noKey)
    expect((await agent.admin('GET /wallets')).contents).toHaveLength(before)
  })

  test('an unknown key on an admin endpoint creates nothing', async () => {
    const before = (await agent.admin('GET /wallets')).contents.length
    expect(await answer(agent, adminPath, { apikey: 'new-key' })).toEqual(notAdmin)
    expect((await agent.admin('GET /wallets')).contents).toHaveLength(before)
  })

  test('an empty or missing key is still refused', async () => {
    expect(await answer(agent, tenantPath, { apikey: '' })).toEqual(emptyKey)
    expect(await answer(agent, tenantPath, {})).toEqual(noKey)
  })
})
