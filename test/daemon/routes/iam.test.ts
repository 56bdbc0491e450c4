/** `/iam`: entities and API keys. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { adminToken, startAgent } from '../../support/agent.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent({ DEFAULT_WALLET_ENABLED: 'false' }))
const { id: walletId } = await agent.admin('POST /wallets', { body: { name: 'wallet' } })

const unknown = 'f1b2c3d4-0000-4000-8000-00000000dead'
const newEntity = (name: string, of = walletId) =>
  agent.admin('POST /iam/entities', { body: { name, walletId: of } })
const bind = (id: string, to: string) =>
  agent.admin('PUT /iam/entities/{id}/walletId', { path: { id }, body: { walletId: to } })
const register = (entityId: string, apiKey: string) =>
  agent.admin('POST /iam/apikey-authentication', { body: { entityId, apiKey } })
const remove = (entityId: string, apiKey: string) =>
  agent.admin('DELETE /iam/apikey-authentication', { body: { entityId, apiKey } })
/** The status of a request with a key. */
const statusWith = async (apikey: string) =>
  (await agent.send('GET', '/connections', { headers: { apikey } })).status

test('an entity is created for a wallet, read back and listed', async () => {
  const entity = await newEntity('acme')
  expect(entity).toEqual({
    kind: 'Entity',
    self: `/iam/entities/${entity.id}`,
    id: entity.id,
    name: 'acme',
    walletId,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  })
  expect(await agent.admin('GET /iam/entities/{id}', { path: { id: entity.id } })).toEqual(entity)
  expect(await agent.admin('GET /iam/entities')).toMatchObject({
    self: '/iam/entities',
    kind: 'EntityResponsePage',
    pageOf: '/iam/entities',
    contents: expect.arrayContaining([entity]),
  })
})

test('an entity is renamed, bound to another wallet and deleted', async () => {
  const { id } = await newEntity('before')
  const other = await agent.admin('POST /wallets', { body: { name: 'other' } })
  const path = { id }
  expect(await agent.admin('PUT /iam/entities/{id}/name', { path, body: { name: 'after' } })).toMatchObject({
    id,
    name: 'after',
    walletId,
  })
  expect(await bind(id, other.id)).toMatchObject({ name: 'after', walletId: other.id })
  await agent.admin('DELETE /iam/entities/{id}', { path })
  await expect(agent.admin('GET /iam/entities/{id}', { path })).rejects.toMatchObject({
    problem: { status: 404, type: 'error:EntityServiceError:EntityNotFound' },
  })
  await expect(agent.admin('DELETE /iam/entities/{id}', { path })).rejects.toMatchObject({
    problem: { status: 404 },
  })
})

test('a tenant whose entity is bound to another wallet uses that wallet, and one whose entity is deleted is refused', async () => {
  const { entityId, call } = await agent.newTenant()
  const other = await agent.admin('POST /wallets', { body: { name: 'other' } })
  await bind(entityId, other.id)
  expect((await call('GET /wallets')).contents).toEqual([other])
  await agent.admin('DELETE /iam/entities/{id}', { path: { id: entityId } })
  await expect(call('GET /wallets')).rejects.toMatchObject({ problem: { status: 401 } })
})

test('an entity needs a wallet that exists', async () => {
  const noWallet = { problem: { status: 404, type: 'error:EntityServiceError:WalletNotFound' } }
  await expect(newEntity('x', unknown)).rejects.toMatchObject(noWallet)
  await expect(agent.admin('POST /iam/entities', { body: { name: 'x' } })).rejects.toMatchObject(noWallet)
  const { entityId } = await agent.newTenant()
  await expect(bind(entityId, unknown)).rejects.toMatchObject(noWallet)
})

test('a key is registered with 201 and no body, again without effect, and removed with 200 and no body', async () => {
  const { id: entityId } = await newEntity('x')
  const send = async (method: string) => {
    const headers = { 'x-admin-api-key': adminToken }
    const response = await agent.send(method, '/iam/apikey-authentication', {
      headers,
      body: JSON.stringify({ entityId, apiKey: 'my-tenant-api-key' }),
    })
    return [response.status, await response.text()]
  }
  expect(await send('POST')).toEqual([201, ''])
  expect(await send('POST')).toEqual([201, ''])
  expect(await statusWith('my-tenant-api-key')).toBe(200)
  expect(await send('DELETE')).toEqual([200, ''])
  expect(await statusWith('my-tenant-api-key')).toBe(401)
})

test.each([
  ['15 characters', 'x'.repeat(15), /16 to 128/],
  ['129 characters', 'x'.repeat(129), /16 to 128/],
  ['one space', ' ', /16 to 128/],
  ['spaces at its ends', ` ${'x'.repeat(20)}`, /visible ASCII/],
  ['no ASCII', 'schlüssel-des-mandanten', /visible ASCII/],
])('a key of %s is not registered, and a key of 16 or 128 characters is', async (_name, apiKey, reason) => {
  const { id: entityId } = await newEntity('x')
  await expect(register(entityId, apiKey)).rejects.toMatchObject({
    problem: { status: 400, detail: expect.stringMatching(new RegExp(`apiKey: .*${reason.source}`)) },
  })
  for (const length of [16, 128]) {
    const key = randomBytes(length).toString('hex').slice(0, length)
    await register(entityId, key)
    expect(await statusWith(key)).toBe(200)
  }
})

test('a short key that an earlier version has registered still authenticates, and can be removed', async () => {
  const { id: entityId } = await newEntity('x')
  await agent.agent.tenants.keys.register({ entityId, apiKey: 'short' })
  expect(await statusWith('short')).toBe(200)
  await remove(entityId, 'short')
  expect(await statusWith('short')).toBe(401)
})

test('a key of another entity, or one that was removed, cannot be registered', async () => {
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  const compromised = {
    problem: { status: 401, type: 'error:AuthenticationRepositoryError:AuthenticationCompromised' },
  }
  await expect(register(two.entityId, one.apiKey)).rejects.toMatchObject(compromised)
  await remove(one.entityId, one.apiKey)
  await expect(register(one.entityId, one.apiKey)).rejects.toMatchObject(compromised)
})

test('a key needs an existing entity and a value', async () => {
  await expect(register(unknown, 'a-key-of-a-tenant')).rejects.toMatchObject({
    problem: { status: 404, type: 'error:EntityServiceError:EntityNotFound' },
  })
  await expect(register(unknown, '')).rejects.toMatchObject({
    problem: { status: 400, detail: expect.stringContaining('apiKey: ') },
  })
  await expect(register('acme', 'some-key')).rejects.toMatchObject({
    problem: { status: 400, detail: expect.stringContaining('entityId: ') },
  })
})
