/** Roles, permissions, wallets and scopes of the subjects of an OpenID provider. */
import { expect, test } from 'vitest'
import { sharedAgent, startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { accepting, bearer, startIssuer } from './_issuer.ts'
import { untilEnd } from '../../support/shared.ts'

const issuer = await untilEnd(startIssuer())
const agent = await untilEnd(
  startAgent({
    ...accepting(issuer),
    OIDC_SCOPE_CLAIM: 'scope',
    AUDIT_REFUSALS_PER_MINUTE: '1000',
  }),
)

const unknownId = 'f1b2c3d4-0000-4000-8000-00000000dead'
const notPermitted = 'error:AuthenticationError:ResourceNotPermitted'
const wrongRole = 'error:AuthenticationError:InvalidRole'

/** Headers of a token of a subject. */
const as = async (sub: string, claims: object = {}) =>
  bearer(await issuer.sign({ sub, scope: 'openid all', ...claims }))
const administrator = () => as('root', { roles: ['admin'] })

const send = (key: string, headers: Record<string, string>, body?: object) =>
  ask(agent, key, { headers, ...(body && { body }) })
const newWallet = async (name = 'w') => (await agent.admin('POST /wallets', { body: { name } })).id
const grant = (walletId: string, subject: string) =>
  agent.admin('POST /wallets/{walletId}/uma-permissions', { path: { walletId }, body: { subject } })
const failure = ({ status, body }: { status: number; body: { type?: string } }) => [status, body?.type]

test('the administrator’s role opens its endpoints and no tenant’s', async () => {
  const headers = await administrator()
  expect((await send('GET /iam/entities', headers)).status).toBe(200)
  expect((await send('GET /wallets', headers)).status).toBe(200)
  expect((await send('POST /wallets', headers, { name: 'made' })).status).toBe(201)
  const refused = await send('GET /connections', headers)
  expect(failure(refused)).toEqual([403, wrongRole])
  expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer error="insufficient_scope"/)
})

test('a tenant’s role opens no endpoint of the administrator', async () => {
  const headers = await as('tenant-1')
  for (const key of ['GET /iam/entities', 'GET /audit', 'POST /_system/backups'])
    expect(failure(await send(key, headers, key.startsWith('POST') ? {} : undefined)), key).toEqual([
      403,
      wrongRole,
    ])
})

test('a token needs exactly one role', async () => {
  for (const roles of [[], ['user'], ['admin', 'tenant'], undefined, { admin: true }, 'administrator'])
    expect(failure(await send('GET /wallets', await as('x', { roles }))), JSON.stringify(roles)).toEqual([
      403,
      wrongRole,
    ])
  expect((await send('GET /wallets', await as('x', { roles: 'user tenant' }))).status).toBe(200)
})

test('a subject needs a permission, which ends at once when it is revoked', async () => {
  const walletId = await newWallet()
  const headers = await as('carol')
  expect(failure(await send('GET /connections', headers))).toEqual([403, notPermitted])
  await grant(walletId, 'carol')
  await grant(walletId, 'carol')
  expect((await send('GET /connections', headers)).status).toBe(200)
  const path = `/wallets/${walletId}/uma-permissions?subject=carol`
  expect((await send(`DELETE ${path}`, await administrator())).status).toBe(200)
  expect(failure(await send('GET /connections', headers))).toEqual([403, notPermitted])
  expect(failure(await send(`DELETE ${path}`, await administrator()))).toEqual([
    400,
    'error:PermissionManagementServiceError:PermissionNotFoundById',
  ])
})

test('a subject with several wallets names one', async () => {
  const [first, second, foreign] = [await newWallet('1'), await newWallet('2'), await newWallet('3')]
  await grant(first, 'dave')
  await grant(second, 'dave')
  const headers = await as('dave')
  const ambiguous = await send('GET /did-registrar/dids', headers)
  expect(failure(ambiguous)).toEqual([403, notPermitted])
  expect(ambiguous.body.detail).toContain('X-Wallet-Id')
  const template = { documentTemplate: { publicKeys: [], services: [] } }
  const own = { ...headers, 'x-wallet-id': second.toUpperCase() }
  expect((await send('POST /did-registrar/dids', own, template)).status).toBe(201)
  const count = async (walletId: string) =>
    (await send('GET /did-registrar/dids', { ...headers, 'x-wallet-id': walletId })).body.contents.length
  expect([await count(first), await count(second)]).toEqual([0, 1])
  for (const wrong of [foreign, unknownId, 'none'])
    expect(failure(await send('GET /did-registrar/dids', { ...headers, 'x-wallet-id': wrong }))).toEqual([
      403,
      notPermitted,
    ])
  const listed = (await send('GET /wallets', headers)).body.contents as { id: string }[]
  expect(listed.map(({ id }) => id).toSorted()).toEqual([first, second].toSorted())
  expect((await send(`GET /wallets/${foreign}`, headers)).status).toBe(404)
  expect((await send(`GET /wallets/${first}/stats`, headers)).status).toBe(200)
  expect(failure(await send('GET /events', headers))).toEqual([403, notPermitted])
  expect((await send(`GET /events?walletId=${first}`, headers)).status).toBe(200)
  expect((await send(`GET /events?walletId=${foreign}`, headers)).status).toBe(404)
})

test('a tenant gives others access to its own wallet only', async () => {
  const [own, foreign] = [await newWallet('own'), await newWallet('foreign')]
  await grant(own, 'erin')
  const headers = await as('erin')
  const to = (walletId: string) => `/wallets/${walletId}/uma-permissions`
  expect((await send(`POST ${to(own)}`, headers, { subject: 'frank' })).status).toBe(200)
  expect((await send('GET /connections', await as('frank'))).status).toBe(200)
  for (const walletId of [foreign, unknownId]) {
    const refused = await send(`POST ${to(walletId)}`, headers, { subject: 'erin' })
    expect(failure(refused)).toEqual([400, 'error:PermissionManagementServiceError:WalletNotFoundById'])
    const removed = await send(`DELETE ${to(walletId)}?subject=erin`, headers)
    expect(failure(removed)).toEqual([400, 'error:PermissionManagementServiceError:WalletNotFoundById'])
  }
  expect((await send('GET /wallets', headers)).body.contents).toHaveLength(1)
  expect((await send(`DELETE ${to(own)}?subject=erin`, headers)).status).toBe(200)
  expect(failure(await send('GET /connections', headers))).toEqual([403, notPermitted])
})

test('an API key gives access to its wallet too, and a malformed subject is refused', async () => {
  const { apiKey, walletId } = await agent.newTenant()
  const key = `POST /wallets/${walletId}/uma-permissions`
  expect((await ask(agent, key, { apiKey, body: { subject: 'grace' } })).status).toBe(200)
  expect((await send('GET /connections', await as('grace'))).status).toBe(200)
  for (const subject of ['', 'a b', 'x'.repeat(256), 7, null])
    expect((await ask(agent, key, { apiKey, body: { subject } })).status).toBe(400)
})

test('a subject without a wallet creates one, once', async () => {
  const headers = await as('heidi')
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => send('POST /wallets', headers, { name: 'mine' })),
  )
  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400, 400, 400])
  const refused = replies.find(({ status }) => status === 400)!
  expect(refused.body.type).toBe('error:WalletManagementServiceError:TooManyPermittedWallet')
  const { id } = replies.find(({ status }) => status === 201)!.body
  expect((await send('GET /wallets', headers)).body.contents).toMatchObject([{ id, name: 'mine' }])
  expect((await send('GET /connections', headers)).status).toBe(200)
})

test('the scopes of a token limit it as those of an API key do', async () => {
  await grant(await newWallet(), 'ivan')
  const statusOf = async (scope: string | undefined, key: string) =>
    (await send(key, await as('ivan', { scope }), key.startsWith('GET') ? undefined : {})).status
  expect(await statusOf('openid read', 'GET /connections')).toBe(200)
  expect(await statusOf('openid read', 'POST /connections')).toBe(403)
  expect(await statusOf('issuer', 'POST /connections')).toBe(201)
  expect(await statusOf('issuer holder verifier read', 'POST /events/webhooks')).toBe(403)
  expect(await statusOf('all', 'POST /events/webhooks')).toBe(400)
  for (const scope of ['openid', '', undefined]) expect(await statusOf(scope, 'GET /connections')).toBe(403)
  expect((await send('POST /wallets', await as('judy', { scope: 'issuer' }), { name: 'x' })).status).toBe(403)
})

test('the audit log names issuer and subject, and whom access was given to', async () => {
  const walletId = await newWallet()
  await send(`POST /wallets/${walletId}/uma-permissions`, await administrator(), { subject: 'mallory' })
  await send('GET /connections', await administrator())
  const [refusal, made] = (await agent.admin('GET /audit', { query: { limit: 2 } })).contents
  expect(refusal).toMatchObject({ actor: 'admin', login: 'root', outcome: 'refused', status: 403 })
  expect(made).toMatchObject({
    actor: 'admin',
    issuer: issuer.url,
    login: 'root',
    subject: { walletId, login: 'mallory' },
    outcome: 'succeeded',
  })
  const { contents } = await agent.admin('GET /audit', { query: { login: 'heidi' } })
  expect(contents.map(({ actor, action }) => [actor, action])).toContainEqual(['tenant', 'POST /wallets'])
})

test('a deleted wallet takes its permissions with it', async () => {
  const walletId = await newWallet()
  await grant(walletId, 'niaj')
  await agent.admin('DELETE /wallets/{walletId}', { path: { walletId } })
  expect(failure(await send('GET /connections', await as('niaj')))).toEqual([403, notPermitted])
})

test('clients find the provider, and an agent without one has none', async () => {
  const { body } = await ask(agent, 'GET /.well-known/oauth-protected-resource')
  expect(body).toMatchObject({ resource: agent.url, authorization_servers: [issuer.url] })
  const other = await sharedAgent()
  expect((await ask(other, 'GET /.well-known/oauth-protected-resource')).status).toBe(404)
  const { apiKey, walletId } = await other.newTenant()
  const key = `POST /wallets/${walletId}/uma-permissions`
  expect(await ask(other, key, { apiKey, body: { subject: 'x' } })).toMatchObject({
    status: 400,
    body: { type: 'BadRequest', title: 'BadRequest_FeatureDisabled' },
  })
  expect((await send('GET /connections', await as('carol'))).status).toBe(403)
  const { status, body: refusal } = await ask(other, 'GET /connections', { headers: await as('carol') })
  expect([status, refusal.detail]).toEqual([401, expect.stringMatching(/^ApiKey key is not provided/)])
})

test('with API_KEY_ENABLED=false, a token is required', async () => {
  await using other = await startAgent({ ...accepting(issuer), API_KEY_ENABLED: 'false' })
  expect(failure(await ask(other, 'GET /connections'))).toEqual([
    401,
    'error:AuthenticationError:InvalidCredentials',
  ])
  expect((await ask(other, 'GET /wallets')).status).toBe(401)
  const headers = bearer(await issuer.sign({ sub: 'olivia' }))
  expect((await ask(other, 'POST /wallets', { headers, body: { name: 'o' } })).status).toBe(201)
  expect((await ask(other, 'GET /connections', { headers })).status).toBe(200)
})

test('the variables of the Cloud Agent select the realm of a Keycloak', async () => {
  const { url } = issuer
  issuer.state.issuer = `${url}/realms/identus`
  await using other = await startAgent({
    KEYCLOAK_ENABLED: 'true',
    KEYCLOAK_URL: url,
    KEYCLOAK_REALM: 'identus',
    KEYCLOAK_CLIENT_ID: 'cloud-agent',
    KEYCLOAK_CLIENT_SECRET: 'not used',
  })
  const claims = { iss: `${url}/realms/identus`, aud: 'account', azp: 'cloud-agent', typ: 'Bearer' }
  const token = (more: object) =>
    issuer.sign({ ...claims, client_id: undefined, roles: undefined, ...more }, { typ: 'JWT' })
  const admin = { resource_access: { 'cloud-agent': { roles: ['admin'] } } }
  expect((await ask(other, 'GET /iam/entities', { headers: bearer(await token(admin)) })).status).toBe(200)
  const headers = bearer(await token({}))
  expect((await ask(other, 'POST /wallets', { headers, body: { name: 'own' } })).status).toBe(201)
  const foreign = bearer(await token({ azp: 'other' }))
  expect((await ask(other, 'GET /wallets', { headers: foreign })).status).toBe(401)
  issuer.state.issuer = ''
})
