/**
 * The nine scenarios of the Cloud Agent (`tests/integration-tests/src/test/resources/features/vdr`), over two
 * daemons that share a ledger: the issuer's serves it, and the holder's uses it by HTTP.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { createTenant } from '../../support/api.ts'
import { Daemon } from '../../support/daemon.ts'
import { isOnPostgres } from '../../support/store.ts'
import { until } from '../../support/tenants.ts'
import { askEntry, createVdrDid, publish } from './_entries.ts'

const issuerDaemon = await Daemon.start(isOnPostgres ? {} : { VDR_MEMORY_DRIVER_ENABLED: 'true' })
const holderDaemon = await Daemon.start({ VDR_URL: issuerDaemon.url, DID_CACHE_LIFETIME: '0' })
const issuer = await createTenant(issuerDaemon.url, 'Issuer')
const holder = await createTenant(holderDaemon.url, 'Holder')
afterAll(async () => {
  await holderDaemon?.[Symbol.asyncDispose]()
  await issuerDaemon?.[Symbol.asyncDispose]()
})

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))

/** The parameters that the scenarios send for a driver. */
const parameters: Record<string, Record<string, string>> = {
  memory: { drf: 'memory', drid: 'memory', drv: '0.1.0', m: 'true' },
  database: { drf: 'database', drid: 'database', drv: '0.1.0', m: 'true' },
  neoprism: { drf: 'prism', drid: 'neoprism', drv: '1.0.0', m: 'true' },
}

/** "creates a VDR entry with value … using … driver" */
async function create(value: string, driver: string): Promise<string> {
  const content = { apiKey: issuer.apiKey, content: bytes(value) }
  const { status, body } = await askEntry(issuer, 'POST', parameters[driver]!, content)
  expect(status).toBe(201)
  await confirmed(body.operationId)
  return body.url
}

/** "updates the VDR entry with value …" */
async function update(url: string, value: string): Promise<void> {
  const content = { apiKey: issuer.apiKey, content: bytes(value) }
  const { status, body } = await askEntry(issuer, 'PUT', { url }, content)
  expect({ status, url: body.url }).toEqual({ status: 200, url })
  await confirmed(body.operationId)
}

/** "deletes the VDR entry" */
async function remove(url: string): Promise<void> {
  const { status, body } = await askEntry(issuer, 'DELETE', { url }, { apiKey: issuer.apiKey })
  expect(status).toBe(200)
  await confirmed(body.operationId)
}

/** "uses the VDR URL to locate the data with value …". The drivers without a ledger are those of one agent. */
async function locate(at: { url: string }, url: string, value: string): Promise<void> {
  const { status, bytes: found } = await askEntry(at, 'GET', { url })
  expect({ status, value: Buffer.from(found).toString('hex') }).toEqual({ status: 200, value })
}

async function confirmed(operationId: string | undefined): Promise<void> {
  if (operationId === undefined) return
  await until(
    'confirmation',
    () => issuer.call('GET /vdr/operations/{operationId}', { path: { operationId } }),
    ({ status }) => status === 'CONFIRMED_AND_APPLIED',
  )
}

const drivers = isOnPostgres ? ['database'] : ['memory', 'database']
describe.each(drivers)('Manage a VDR entry using %s driver', (driver) => {
  test('Successfully create and resolve VDR entry', async () => {
    await locate(issuer, await create('112233', driver), '112233')
  })

  test('Successfully share resolvable VDR URL for other party', async () => {
    const url = await create('112233', driver)
    // The holder asks the agent that has the entry, without credentials of it.
    await locate({ url: issuerDaemon.url }, url, '112233')
  })

  test('Successfully update VDR entry', async () => {
    const url = await create('112233', driver)
    await update(url, '445566')
    await locate(issuer, url, '445566')
  })

  test('Successfully deactivate VDR entry', async () => {
    const url = await create('112233', driver)
    await remove(url)
    expect((await askEntry(issuer, 'GET', { url })).status).toBe(404)
  })
})

test('Manage a VDR entry with ledger-backed driver: create, update, resolve and deactivate', async () => {
  const did = await publish(issuer, await createVdrDid(issuer, 'vdr-1'))
  // "Issuer sees PRISM DID has the VDR key": the document does not show internal keys, the ledger does.
  const protobuf = await fetch(`${issuerDaemon.url}/api/dids/${did}/protobuf`)
  expect(Buffer.from(await protobuf.text(), 'hex').toString('latin1')).toContain('vdr-1')
  const url = await create('112233', 'neoprism')
  for (const at of [issuer, holder]) await locate(at, url, '112233')
  for (const value of ['445566', '778899']) {
    await update(url, value)
    for (const at of [issuer, holder]) await locate(at, url, value)
  }
  await remove(url)
  for (const at of [issuer, holder]) expect((await askEntry(at, 'GET', { url })).status).toBe(404)
})

test('the holder’s daemon writes entries to the ledger of the other daemon', async () => {
  await publish(holder, await createVdrDid(holder, 'vdr-1'))
  const content = { apiKey: holder.apiKey, content: bytes('aabbcc') }
  const { status, body } = await askEntry(holder, 'POST', { drid: 'ledger' }, content)
  expect(status).toBe(201)
  for (const at of [issuer, holder]) await locate(at, body.url, 'aabbcc')
  const operation = { path: { operationId: body.operationId } }
  expect(await holder.call('GET /vdr/operations/{operationId}', operation)).toEqual({
    status: 'CONFIRMED_AND_APPLIED',
    transactionId: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  // The entry belongs to a DID of the holder's wallet.
  const foreign = await askEntry(issuer, 'PUT', { url: body.url }, { ...content, apiKey: issuer.apiKey })
  expect(foreign.status).toBe(404)
  const changed = { ...content, content: bytes('ddeeff') }
  expect((await askEntry(holder, 'PUT', { url: body.url }, changed)).status).toBe(200)
  for (const at of [issuer, holder]) await locate(at, body.url, 'ddeeff')
})
