/** Which requests are in the audit log, and what their entries contain. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isAudited } from '../../../daemon/http/audit.ts'
import { routes } from '../../../daemon/routes/index.ts'
import type { Route } from '../../../daemon/http/route.ts'
import { adminToken, sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { built } from '../../support/built.ts'
import { probed } from '../../wallet/audit/_log.ts'
import { newDid, refusal } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(
  startAgent({
    FAILED_ATTEMPTS_PER_MINUTE: '5',
    AUDIT_REFUSALS_PER_MINUTE: '1000',
    AGENT_TRUST_PROXY: 'true',
  }),
)
const tenant = await agent.newTenant('acme')

/** Returns the entries that `work` adds, oldest first. */
async function added(work: () => Promise<unknown>) {
  const list = async () => (await agent.admin('GET /audit', { query: { limit: 1_000 } })).contents
  const last = (await list())[0]?.sequence ?? 0
  await work()
  return (await list()).filter(({ sequence }) => sequence > last).toReversed()
}

const asAdmin = { 'x-admin-api-key': adminToken }
const send = (key: string, headers: Record<string, string> = {}, body?: unknown) => {
  const [method, path] = key.split(' ') as [string, string]
  return agent.send(method, path, {
    headers: { 'x-forwarded-for': '192.0.2.1', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

test('administrative changes and DID operations are audited', () => {
  const keys = (routes as readonly Route[]).filter(isAudited).map(({ key }) => key)
  expect(keys).toEqual(
    expect.arrayContaining([
      'POST /wallets',
      'DELETE /iam/entities/{id}',
      'POST /iam/apikey-authentication',
      'POST /_system/master-key/rotation',
      'POST /did-registrar/dids/{didRef}/updates',
      'POST /did-registrar/restorations',
    ]),
  )
  const others = (routes as readonly Route[]).filter(
    (route) => !isAudited(route) && !route.key.startsWith('GET '),
  )
  expect(others.filter(({ contract }) => contract.access === 'admin')).toEqual([])
  expect(keys.filter((key) => key.startsWith('GET '))).toEqual([])
})

test('an administrative change has its actor, address, action, result, outcome and request id', async () => {
  let [walletId, entityId, keyId] = ['', '', '']
  const entries = await added(async () => {
    const answer = await send(
      'POST /wallets',
      { ...asAdmin, 'x-request-id': 'my-request-1' },
      { name: 'a-name-that-a-user-chose' },
    )
    expect(answer.headers.get('x-request-id')).toBe('my-request-1')
    walletId = ((await answer.json()) as { id: string }).id
    entityId = (await agent.admin('POST /iam/entities', { body: { name: 'another-name', walletId } })).id
    keyId = (
      await agent.admin('POST /iam/entities/{id}/api-keys', {
        path: { id: entityId },
        body: { name: 'the-name' },
      })
    ).id
    await agent.admin('DELETE /iam/entities/{id}/api-keys/{keyId}', { path: { id: entityId, keyId } })
    await agent.admin('GET /iam/entities')
  })
  const logged = ['actor', 'action', 'outcome', 'status', 'walletId', 'subject']
  const whole = entries.map((entry) =>
    Object.fromEntries(Object.entries(entry).filter(([name]) => logged.includes(name))),
  )
  const succeeded = { actor: 'admin', outcome: 'succeeded' }
  const keys = 'POST /iam/entities/{id}/api-keys'
  const entity = { walletId, made: entityId }
  expect(whole).toEqual([
    { ...succeeded, action: 'POST /wallets', status: 201, walletId, subject: { made: walletId } },
    { ...succeeded, action: 'POST /iam/entities', status: 201, walletId, subject: entity },
    { ...succeeded, action: keys, status: 201, subject: { id: entityId, made: keyId } },
    {
      ...succeeded,
      action: 'DELETE /iam/entities/{id}/api-keys/{keyId}',
      status: 200,
      subject: { id: entityId, keyId },
    },
  ])
  expect(entries[0]).toMatchObject({
    address: '192.0.2.1',
    requestId: 'my-request-1',
    at: expect.stringMatching(/^20.*Z$/),
  })
  expect(new Set(entries.map(({ requestId }) => requestId)).size).toBe(4)
})

test('a DID operation has its tenant, key, wallet and DID', async () => {
  let did = ''
  const entries = await added(async () => {
    did = (await newDid(tenant, 'assertionMethod')).did
    await tenant.call('GET /did-registrar/dids')
  })
  const { entityId, walletId } = tenant
  const byTenant = { actor: 'tenant', entityId, walletId }
  const publications = 'POST /did-registrar/dids/{didRef}/publications'
  expect(entries).toMatchObject([
    { ...byTenant, keyId: expect.any(String), action: 'POST /did-registrar/dids', subject: { made: did } },
    { ...byTenant, action: publications, subject: { didRef: did }, status: 202 },
  ])
})

test('a failure is logged with its problem; free text in a path is not', async () => {
  const entries = await added(async () => {
    await refusal(agent.admin('POST /wallets', { body: { id: tenant.walletId, name: 'x' } }))
    await send('POST /iam/entities', asAdmin, { name: 7 })
    await refusal(
      tenant.call('POST /did-registrar/dids/{didRef}/publications', {
        path: { didRef: 'did:web:the-password-of-a-user' },
      }),
    )
    // An invalid path.
    await send('DELETE /iam/entities/nonsense', asAdmin)
  })
  const failed = (action: string, status: number) => ({ action, outcome: 'failed', status })
  expect(entries).toMatchObject([
    {
      ...failed('POST /wallets', 422),
      problemType: 'error:WalletManagementServiceError:DuplicatedWalletId',
    },
    { ...failed('POST /iam/entities', 400), problemType: 'error:RequestBodyDecodingFailure' },
    failed('POST /did-registrar/dids/{didRef}/publications', 404),
  ])
  expect(entries).toHaveLength(3)
  expect(JSON.stringify(entries)).not.toContain('password')
})

test('every refusal is logged, at any endpoint, with its actor where known', async () => {
  const { entityId, walletId, apiKey } = tenant
  const { id: keyId, apiKey: narrow } = await agent.admin('POST /iam/entities/{id}/api-keys', {
    path: { id: entityId },
    body: { scopes: ['read'] },
  })
  const entries = await added(async () => {
    for (const [key, headers] of [
      ['GET /connections', {}],
      ['GET /connections', { apikey: 'wrong-key-1' }],
      ['GET /did-authentication/challenges', { apikey: 'wrong-key-2' }],
      ['GET /wallets', { 'x-admin-api-key': 'wrong-key-3' }],
      ['GET /iam/entities', { apikey: apiKey }],
      ['POST /connections', { apikey: narrow }],
      ['GET /connections', { origin: 'https://evil.example' }],
    ] as const)
      expect((await send(key, headers)).status, key).toBeGreaterThan(400)
  })
  const anonymous = { actor: 'anonymous', address: '192.0.2.1', outcome: 'refused' }
  const error = (name: string) => ({ problemType: `error:AuthenticationError:${name}` })
  const invalid = { ...anonymous, status: 401, ...error('InvalidCredentials') }
  const notAdmin = { ...anonymous, status: 401, ...error('AdminApiKeyAuthenticationError') }
  const byTenant = { actor: 'tenant', status: 403 }
  expect(entries).toMatchObject([
    { ...invalid, action: 'GET /connections' },
    { ...invalid, action: 'GET /connections' },
    { ...invalid, action: 'GET /did-authentication/challenges' },
    { ...notAdmin, action: 'GET /wallets' },
    { ...byTenant, entityId, walletId, action: 'GET /iam/entities', ...error('InvalidRole') },
    { ...byTenant, keyId, action: 'POST /connections', ...error('InsufficientScope') },
    { ...anonymous, action: 'request from another site', status: 403, problemType: 'error:LocalAccessOnly' },
  ])
  const tooMany = await added(async () => {
    for (let n = 0; n < 6; n++)
      await send('GET /connections', { apikey: `guess-${n}`, 'x-forwarded-for': '192.0.2.99' })
  })
  expect(tooMany.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429])
  // Missing resources and resources of other tenants are not refusals.
  expect(
    await added(() => refusal(tenant.call('GET /wallets/{walletId}', { path: { walletId: entityId } }))),
  ).toEqual([])
})

test('entries are filtered by subject and paged', async () => {
  const find = async (query: Parameters<typeof agent.admin<'GET /audit'>>[1] & object) =>
    (await agent.admin('GET /audit', query)).contents
  const all = await find({ query: { limit: 1_000 } })
  expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => all.length - index))
  const { entityId, walletId } = tenant
  for (const [query, fits] of [
    [{ actor: 'agent' }, (e: (typeof all)[0]) => e.actor === 'agent'],
    [{ outcome: 'refused' }, (e: (typeof all)[0]) => e.outcome === 'refused'],
    [{ entityId }, (e: (typeof all)[0]) => e.entityId === entityId],
    [{ walletId }, (e: (typeof all)[0]) => e.walletId === walletId],
    [{ action: 'POST /wallets' }, (e: (typeof all)[0]) => e.action === 'POST /wallets'],
    [{ requestId: 'my-request-1' }, (e: (typeof all)[0]) => e.requestId === 'my-request-1'],
    [{ since: all[3]!.at }, (e: (typeof all)[0]) => e.at >= all[3]!.at],
    [{ until: all[3]!.at }, (e: (typeof all)[0]) => e.at < all[3]!.at],
  ] as const) {
    const expected = all.filter(fits)
    expect(expected.length, JSON.stringify(query)).toBeGreaterThan(0)
    expect(expected.length, JSON.stringify(query)).toBeLessThan(all.length)
    expect(await find({ query: { ...query, limit: 1_000 } })).toEqual(expected)
  }
  const pages = []
  for (let next: string | undefined = '/audit?limit=7&outcome=succeeded'; next !== undefined;) {
    const page = (await (await send(`GET ${next}`, asAdmin)).json()) as {
      contents: typeof all
      next?: string
    }
    pages.push(...page.contents)
    next = page.next
  }
  expect(pages).toEqual(all.filter(({ outcome }) => outcome === 'succeeded'))
})

test('an intact log contains the earlier head, and an invalid head is refused', async () => {
  const { head, entries, isIntact } = await agent.admin('GET /audit/verification')
  expect({ isIntact, entries: `${entries}` }).toEqual({ isIntact: true, entries: head!.split(':')[0] })
  await agent.admin('POST /wallets', { body: { name: 'x' } })
  expect(await agent.admin('GET /audit/verification', { query: { head } })).toMatchObject({
    isIntact: true,
    noted: 'there',
    entries: entries + 1,
  })
  expect(
    await refusal(agent.admin('GET /audit/verification', { query: { head: 'nonsense' } })),
  ).toMatchObject({
    status: 400,
    detail: expect.stringContaining('head'),
  })
})

test('with a full disk, audited changes are refused and other requests continue', async () => {
  const full = (point: string) => {
    if (point === 'audit:before')
      throw new built.Problem(
        'error:InsufficientStorage',
        'The disk of the agent is full. Nothing was changed.',
      )
  }
  const wallets = async () => (await agent.admin('GET /wallets', { query: { limit: 1_000 } })).contents.length
  const before = await wallets()
  await probed(full, async () => {
    expect(await refusal(agent.admin('POST /wallets', { body: { name: 'x' } }))).toMatchObject({
      status: 507,
    })
    expect(await refusal(newDid(tenant, 'authentication'))).toMatchObject({ status: 507 })
    expect(
      (await send('GET /connections', { apikey: 'a-wrong-one', 'x-forwarded-for': '192.0.2.5' })).status,
    ).toBe(401)
    await tenant.call('POST /connections', { body: {} })
  })
  expect(await wallets()).toBe(before)
  await agent.admin('POST /wallets', { body: { name: 'x' } })
  expect(await agent.admin('GET /audit/verification')).toMatchObject({ isIntact: true })
})

test('no key, name or token is in the file, and no request id that is a key', async () => {
  const answer = await send('GET /wallets', { ...asAdmin, 'x-request-id': adminToken })
  expect(answer.headers.get('x-request-id')).not.toContain(adminToken)
  for (const odd of ['iak_0123456789', 'short', 'with space', 'x'.repeat(65), 'a"b-cdefgh'])
    expect((await send('GET /_system/health', { 'x-request-id': odd })).headers.get('x-request-id')).toMatch(
      /^[0-9a-f-]{36}$/,
    )
  const files = readdirSync(agent.dataDir).filter((name) => name.startsWith('audit.db'))
  expect(files).toContain('audit.db-wal')
  const content = files.map((name) => readFileSync(join(agent.dataDir, name), 'latin1')).join('')
  expect(content).toContain('my-request-1')
  for (const secret of [
    adminToken,
    tenant.apiKey,
    'wrong-key',
    'guess-',
    'a-name-that-a-user-chose',
    'another-name',
    'the-password',
    'evil.example',
  ])
    expect(content.includes(secret), secret).toBe(false)
})

describe('actions of the agent itself', () => {
  test('are logged at its first start, and when a start completes a rotation of the master key', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'identity-agent-'))
    const newKey = () => randomBytes(32).toString('base64url')
    const own = async ({ admin }: TestAgent) =>
      (await admin('GET /audit', { query: { actor: 'agent' } })).contents
        .map(({ action, outcome }) => `${action}: ${outcome}`)
        .toReversed()
    try {
      const [first, second] = [newKey(), newKey()]
      const atFirst = [
        'agent key made',
        'default wallet made',
        'default tenant made',
        'default tenant’s key made',
      ].map((deed) => `${deed}: succeeded`)
      const variables = { DEFAULT_WALLET_AUTH_API_KEY: 'the-default-key-of-the-tests' }
      {
        await using started = await startAgent({ ...variables, AGENT_MASTER_KEY: first }, { dataDir })
        expect(await own(started)).toEqual(atFirst)
        await started.admin('POST /_system/master-key/rotation', { body: { newKey: second } })
      }
      {
        await using again = await startAgent({ ...variables, AGENT_MASTER_KEY: first }, { dataDir })
        expect(await own(again)).toEqual(atFirst)
      }
      await using last = await startAgent({ ...variables, AGENT_MASTER_KEY: second }, { dataDir })
      expect(await own(last)).toEqual([...atFirst, 'previous master key dropped: succeeded'])
      expect(await last.admin('GET /audit/verification')).toMatchObject({ isIntact: true })
    } finally {
      rmSync(dataDir, { recursive: true })
    }
  })

  test('include a tenant that was created for an unknown key', async () => {
    const provisioning = await sharedAgent({
      API_KEY_AUTO_PROVISIONING: 'true',
      DEFAULT_WALLET_ENABLED: 'false',
    })
    await provisioning.send('GET', '/connections', { headers: { apikey: 'a-new-key-of-the-tests' } })
    const walletId = (await provisioning.admin('GET /wallets')).contents[0]!.id
    const { contents } = await provisioning.admin('GET /audit', { query: { actor: 'anonymous' } })
    expect(contents).toMatchObject([
      {
        action: 'tenant made for an unknown key',
        walletId,
        address: '127.0.0.1',
        requestId: expect.any(String),
      },
    ])
  })
})
