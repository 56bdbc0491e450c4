/** The driver of entries on the ledger: which key signs, whose entry it is, and the errors. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createClient } from '../../../daemon/client/client.ts'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import type { Tenant } from '../../support/tenants.ts'
import { askEntry, createEntry, createVdrDid, publish, settled } from './_entries.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent())

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const onLedger = { drid: 'ledger' }
const create = (tenant: Tenant, query: Record<string, string> = {}) =>
  askEntry(agent, 'POST', { ...onLedger, ...query }, { apiKey: tenant.apiKey, content: bytes('01') })
const refusal = (kind: string, detail: string) => ({
  status: 400,
  body: { type: `error:VdrServiceError:${kind}`, detail: expect.stringContaining(detail) },
})

test('an entry needs a published DID with the key, by default vdr-1', async () => {
  const tenant = await agent.newTenant()
  expect(await create(tenant)).toMatchObject(
    refusal('MissingVdrKey', 'no published DID of this wallet has a VDR key vdr-1'),
  )
  const did = await createVdrDid(tenant, 'vdr-1', 'other')
  expect(await create(tenant)).toMatchObject(refusal('MissingVdrKey', 'no published DID'))
  expect(await create(tenant, { didKeyId: `${did}#vdr-1` })).toMatchObject(
    refusal('MissingVdrKey', `${did} has no published VDR key vdr-1`),
  )
  await publish(tenant, did)
  const { status, body } = await create(tenant)
  expect({ status, body }).toEqual({
    status: 201,
    body: {
      url: expect.stringMatching(/^vdr:\/\/\?drf=prism&drid=neoprism&drv=1\.0\.0&m=1#[0-9a-f]{64}$/),
      operationId: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  })
  for (const didKeyId of ['other', `${did}#other`, `${did}#vdr-1`])
    expect((await create(tenant, { didKeyId })).status).toBe(201)
  for (const didKeyId of [
    'missing',
    'master0',
    `${did}#missing`,
    `did:prism:${'0'.repeat(64)}#vdr-1`,
    '#',
    'x#vdr-1',
  ])
    expect(await create(tenant, { didKeyId })).toMatchObject(refusal('MissingVdrKey', ''))
})

test('if several DIDs have the key, one is named; an entry is changed with a key of its own DID', async () => {
  const tenant = await agent.newTenant()
  const dids = [
    await publish(tenant, await createVdrDid(tenant, 'vdr-1')),
    await publish(tenant, await createVdrDid(tenant, 'vdr-1')),
  ]
  expect(await create(tenant)).toMatchObject(
    refusal('MissingVdrKey', '2 DIDs have a VDR key vdr-1: name one as <DID>#vdr-1'),
  )
  const { url } = (await create(tenant, { didKeyId: `${dids[1]}#vdr-1` })).body
  const { apiKey } = tenant
  expect((await askEntry(agent, 'PUT', { url }, { apiKey, content: bytes('02') })).status).toBe(200)
  const wrong = { url, didKeyId: `${dids[0]}#vdr-1` }
  expect((await askEntry(agent, 'PUT', wrong, { apiKey, content: bytes('03') })).status).toBe(404)
  expect((await askEntry(agent, 'GET', { url })).bytes).toEqual(bytes('02'))
  expect((await askEntry(agent, 'DELETE', { url }, { apiKey })).body).toEqual({
    operationId: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect((await askEntry(agent, 'GET', { url })).status).toBe(404)
})

test('another wallet can neither change nor delete the entry', async () => {
  const [owner, other] = [await agent.newTenant(), await agent.newTenant()]
  for (const tenant of [owner, other]) await publish(tenant, await createVdrDid(tenant, 'vdr-1'))
  const url = await createEntry(agent, owner.apiKey, bytes('01'), onLedger)
  const { apiKey } = other
  for (const answer of [
    await askEntry(agent, 'PUT', { url }, { apiKey, content: bytes('02') }),
    await askEntry(agent, 'DELETE', { url }, { apiKey }),
  ])
    expect(answer).toMatchObject({ status: 404, body: { type: 'error:VdrServiceError:VdrEntryNotFound' } })
  expect((await askEntry(agent, 'GET', { url })).bytes).toEqual(bytes('01'))
})

test('a VDR key is added and removed by updates, and a deactivated DID has no entries', async () => {
  const tenant = await agent.newTenant()
  const did = await publish(tenant, await createVdrDid(tenant))
  const update = async (action: object) => {
    const body = { actions: [action] } as never
    await tenant.call('POST /did-registrar/dids/{didRef}/updates', { path: { didRef: did }, body })
    await settled(tenant, did)
  }
  await update({ actionType: 'ADD_INTERNAL_KEY', addInternalKey: { id: 'vdr-1', purpose: 'vdr' } })
  const url = await createEntry(agent, tenant.apiKey, bytes('01'), onLedger)
  await update({ actionType: 'REMOVE_INTERNAL_KEY', removeInternalKey: { id: 'vdr-1' } })
  expect(await create(tenant)).toMatchObject(refusal('MissingVdrKey', ''))
  expect(
    await askEntry(agent, 'PUT', { url }, { apiKey: tenant.apiKey, content: bytes('02') }),
  ).toMatchObject(refusal('MissingVdrKey', did))
  expect((await askEntry(agent, 'GET', { url })).bytes).toEqual(bytes('01'))
  await tenant.call('POST /did-registrar/dids/{didRef}/deactivations', { path: { didRef: did } })
  await settled(tenant, did)
  expect((await askEntry(agent, 'GET', { url })).status).toBe(404)
  expect(await create(tenant, { didKeyId: `${did}#vdr-1` })).toMatchObject(refusal('DeactivatedDid', did))
})

test('a wallet that is restored from the seed can change its entries', async () => {
  const seed = randomBytes(64).toString('hex')
  const tenantOf = async (at: TestAgent) => {
    const { id: walletId } = await at.admin('POST /wallets', { body: { seed, name: 'restored' } })
    const { id: entityId } = await at.admin('POST /iam/entities', { body: { name: 'restored', walletId } })
    const apiKey = randomBytes(16).toString('hex')
    await at.admin('POST /iam/apikey-authentication', { body: { entityId, apiKey } })
    return apiKey
  }
  const apiKey = await tenantOf(agent)
  const call = createClient(agent.url, { apikey: apiKey })
  await publish({ call }, await createVdrDid({ call }, 'spare', 'vdr-1'))
  const url = await createEntry(agent, apiKey, bytes('01'), onLedger)
  await using second = await startAgent({ VDR_URL: agent.url })
  const restored = await tenantOf(second)
  const own = createClient(second.url, { apikey: restored })
  expect((await own('POST /did-registrar/restorations', { body: {} })).restored).toMatchObject([
    { missingKeys: [] },
  ])
  const content = { apiKey: restored, content: bytes('02') }
  expect((await askEntry(second, 'PUT', { url }, content)).status).toBe(200)
  expect((await askEntry(agent, 'GET', { url })).bytes).toEqual(bytes('02'))
})

test('the status of an unknown operation is 404', async () => {
  for (const id of ['0'.repeat(64), 'x'])
    expect((await agent.send('GET', `/vdr/operations/${id}`)).status).toBe(404)
})

test('an entry that is larger than an operation may be is refused', async () => {
  const tenant = await agent.newTenant()
  await publish(tenant, await createVdrDid(tenant, 'vdr-1'))
  const large = { apiKey: tenant.apiKey, content: new Uint8Array(65_000) }
  const { status, body } = await askEntry(agent, 'POST', onLedger, large)
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('64000 bytes') },
  })
})

test('while the ledger is away, entries on it cannot be read or created, and nothing is written', async () => {
  await using served = await startAgent()
  await using user = await startAgent({ VDR_URL: served.url })
  const tenant = await user.newTenant()
  await publish(tenant, await createVdrDid(tenant, 'vdr-1'))
  const url = await createEntry(user, tenant.apiKey, bytes('01'), onLedger)
  await served[Symbol.asyncDispose]()
  const away = { status: 503, body: { type: 'error:ServiceUnavailable' } }
  expect(await askEntry(user, 'GET', { url })).toMatchObject(away)
  const content = { apiKey: tenant.apiKey, content: bytes('02') }
  expect(await askEntry(user, 'POST', onLedger, content)).toMatchObject(away)
  expect(await askEntry(user, 'PUT', { url }, content)).toMatchObject(away)
})
