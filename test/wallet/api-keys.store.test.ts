/** Named API keys: creation, use, list, rotation, revocation. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { refusal } from '../support/tenants.ts'
import { withDetail } from '../support/detail.ts'
import { untilEnd } from '../support/shared.ts'

let entityId: string
const agent = await untilEnd(startAgent())
beforeEach(async () => {
  ;({ entityId } = await agent.newTenant())
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const hour = 3_600_000
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString()
const create = (body: object = {}) =>
  agent.admin('POST /iam/entities/{id}/api-keys', { path: { id: entityId }, body })
const list = async () =>
  (await agent.admin('GET /iam/entities/{id}/api-keys', { path: { id: entityId } })).contents
const revoke = (keyId: string, id = entityId) =>
  agent.admin('DELETE /iam/entities/{id}/api-keys/{keyId}', { path: { id, keyId } })
const statusWith = async (apikey: string) =>
  (await agent.send('GET', '/connections', { headers: { apikey } })).status

test('a key has 256 random bits, is shown once, and authenticates', async () => {
  const { apiKey, ...key } = await create({ name: 'backend' })
  expect(apiKey).toMatch(/^iak_[\w-]{43}$/)
  expect(Buffer.from(apiKey.slice(4), 'base64url')).toHaveLength(32)
  expect(key).toEqual({
    kind: 'ApiKey',
    id: key.id,
    entityId,
    name: 'backend',
    state: 'active',
    createdAt: expect.any(String),
  })
  expect(await statusWith(apiKey)).toBe(200)
  expect(JSON.stringify(await list())).not.toContain(apiKey)
  const rows = await agent.agent.db.selectFrom('api_key').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain(apiKey)
})

test('the list shows the last use of a key, which is written once a minute', async () => {
  const { id, apiKey } = await create()
  const lastUse = async () => (await list()).find((key) => key.id === id)!.lastUsedAt
  expect(await lastUse()).toBeUndefined()
  await statusWith(apiKey)
  const first = await lastUse()
  expect(Math.abs(Date.now() - Date.parse(first!))).toBeLessThan(60_000)
  await statusWith(apiKey)
  expect(await lastUse()).toBe(first)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
  await statusWith(apiKey)
  expect(Date.parse((await lastUse())!) - Date.parse(first!)).toBeGreaterThan(60_000)
})

test('keys are listed in order of creation, paged, with their purpose', async () => {
  const made = [
    await create({ name: 'a' }),
    await create({ name: 'b', scopes: ['verifier', 'issuer', 'issuer'] }),
    await create(),
  ]
  const all = await list()
  // The first is the key that the tenant was created with.
  expect(all.slice(1).map(({ id }) => id)).toEqual(made.map(({ id }) => id))
  expect(all.map(({ scopes }) => scopes)).toEqual([undefined, undefined, ['issuer', 'verifier'], undefined])
  const page = await agent.admin('GET /iam/entities/{id}/api-keys', {
    path: { id: entityId },
    query: { offset: 1, limit: 2 },
  })
  expect(page.contents.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(page.next).toBeDefined()
})

test('a revoked key no longer authenticates and is still listed; revoking it again changes nothing', async () => {
  const [one, two] = [await create(), await create()]
  const revoked = await revoke(one.id)
  expect(revoked).toMatchObject({ id: one.id, state: 'revoked', revokedAt: expect.any(String) })
  expect(await revoke(one.id)).toEqual(revoked)
  expect([await statusWith(one.apiKey), await statusWith(two.apiKey)]).toEqual([401, 200])
  expect((await list()).find(({ id }) => id === one.id)).toEqual(revoked)
})

test('an expired key does not authenticate, and cannot be registered again', async () => {
  const { id, apiKey } = await create({ expiresAt: ahead(hour) })
  expect(await statusWith(apiKey)).toBe(200)
  // Both clocks advance.
  const awake = performance.now() + 2 * hour
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * hour })
  vi.spyOn(performance, 'now').mockReturnValue(awake)
  expect(await statusWith(apiKey)).toBe(401)
  expect((await list()).find((key) => key.id === id)!.state).toBe('expired')
  const again = agent.admin('POST /iam/apikey-authentication', { body: { entityId, apiKey } })
  expect(await refusal(again)).toMatchObject(withDetail(401, 'has expired'))
})

test('a recently used key is refused at the next request, however it was removed', async () => {
  const keyOf = async () => {
    const { id, apiKey } = await create()
    expect(await statusWith(apiKey)).toBe(200)
    return { id, apiKey }
  }
  const [revoked, removed, deleted] = [await keyOf(), await keyOf(), await keyOf()]
  await revoke(revoked.id)
  expect(await statusWith(revoked.apiKey)).toBe(401)
  await agent.admin('DELETE /iam/apikey-authentication', { body: { entityId, apiKey: removed.apiKey } })
  expect([await statusWith(removed.apiKey), await statusWith(deleted.apiKey)]).toEqual([401, 200])
  await agent.admin('DELETE /iam/entities/{id}', { path: { id: entityId } })
  expect(await statusWith(deleted.apiKey)).toBe(401)
})

test('a recently used key opens only the wallet that its entity has now', async () => {
  const other = await agent.newTenant()
  const { apiKey } = await create()
  expect(await statusWith(apiKey)).toBe(200)
  const made = await other.call('POST /connections', { body: { label: 'only here' } })
  const find = () => agent.send('GET', `/connections/${made.connectionId}`, { headers: { apikey: apiKey } })
  expect((await find()).status).toBe(404)
  await agent.admin('PUT /iam/entities/{id}/walletId', {
    path: { id: entityId },
    body: { walletId: other.walletId },
  })
  expect((await find()).status).toBe(200)
})

test('a key is rotated with an overlap, during which both authenticate', async () => {
  const old = await create({ name: 'desk', scopes: ['verifier'], expiresAt: ahead(4 * hour) })
  const until = ahead(hour)
  const next = await create({ replaces: { id: old.id, until } })
  expect(next).toMatchObject({ name: 'desk', scopes: ['verifier'] })
  expect(next.expiresAt).toBeUndefined()
  expect([await statusWith(old.apiKey), await statusWith(next.apiKey)]).toEqual([200, 200])
  expect((await list()).find(({ id }) => id === old.id)!.expiresAt).toBe(until)
  // An earlier expiry is kept.
  await create({ replaces: { id: old.id, until: ahead(2 * hour) } })
  expect((await list()).find(({ id }) => id === old.id)!.expiresAt).toBe(until)
})

test('an invalid request is refused and creates nothing', async () => {
  const other = await agent.newTenant()
  const [theirs] = (await agent.admin('GET /iam/entities/{id}/api-keys', { path: { id: other.entityId } }))
    .contents
  const gone = await create()
  await revoke(gone.id)
  const before = await list()
  const until = ahead(hour)
  const elsewhere = entityId.replace(/^./, (c) => (c === '0' ? '1' : '0'))
  for (const [request, problem] of [
    [() => create({ expiresAt: ahead(-hour) }), withDetail(400, 'expiresAt')],
    [() => create({ scopes: [] }), withDetail(400, 'scopes')],
    [() => create({ scopes: ['admin'] }), { status: 400 }],
    [() => create({ replaces: { id: theirs!.id, until } }), { status: 404 }],
    [() => create({ replaces: { id: gone.id, until } }), { status: 404 }],
    [() => create({ replaces: { id: before[0]!.id, until: ahead(-hour) } }), { status: 400 }],
    [() => revoke(theirs!.id), { status: 404 }],
    [() => revoke(theirs!.id, elsewhere), { status: 404 }],
  ] as const)
    expect(await refusal(request())).toMatchObject(problem)
  expect(await list()).toEqual(before)
  expect(await statusWith(other.apiKey)).toBe(200)
})
