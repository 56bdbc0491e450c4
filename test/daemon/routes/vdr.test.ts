/** `/vdr/entries` and `/vdr/proofs` over HTTP, with the drivers `database` and `memory`. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sharedAgent, startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { isOnPostgres } from '../../support/store.ts'
import { askEntry, createEntry } from '../../wallet/vdr-entries/_entries.ts'
import { untilEnd } from '../../support/shared.ts'

// The driver memory excludes PostgreSQL, over which there can be several nodes.
const memory: Record<string, string> = isOnPostgres ? {} : { VDR_MEMORY_DRIVER_ENABLED: 'true' }

const agent = await untilEnd(startAgent({ ...memory, VDR_ENTRY_BYTES: '1000', VDR_ENTRIES_PER_WALLET: '20' }))
const [owner, other] = [await agent.newTenant('owner'), await agent.newTenant('other')]

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const notFound = { status: 404, body: { type: 'error:VdrServiceError:VdrEntryNotFound' } }

const drivers = isOnPostgres ? ['database'] : ['database', 'memory']
describe.each(drivers)('driver %s', (drid) => {
  test('an entry is created, read by anyone, changed and deleted by its owner', async () => {
    const { apiKey } = owner
    const created = await askEntry(agent, 'POST', { drid }, { apiKey, content: bytes('112233') })
    expect(created).toMatchObject({ status: 201, type: 'application/json' })
    const { url } = created.body as { url: string }
    expect(created.body).toEqual({ url: expect.stringMatching(urlOf(drid)) })
    expect(await askEntry(agent, 'GET', { url })).toMatchObject({
      status: 200,
      type: 'application/octet-stream',
      bytes: bytes('112233'),
    })
    const changed = await askEntry(agent, 'PUT', { url }, { apiKey, content: bytes('445566') })
    expect(changed).toMatchObject({ status: 200, body: { url } })
    expect((await askEntry(agent, 'GET', { url })).bytes).toEqual(bytes('445566'))
    const proof = await ask(agent, `GET /vdr/proofs?${new URLSearchParams({ url }).toString()}`)
    const digest = createHash('sha256').update(bytes('445566')).digest('hex')
    expect(proof).toMatchObject({ status: 200, body: { type: 'SHA256', proof: digest } })
    expect(await askEntry(agent, 'DELETE', { url }, { apiKey })).toMatchObject({ status: 200, body: {} })
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect(
        await askEntry(agent, method, { url }, { apiKey, ...(method === 'PUT' && { content: bytes('00') }) }),
      ).toMatchObject(notFound)
    expect(await ask(agent, `GET /vdr/proofs?${new URLSearchParams({ url }).toString()}`)).toMatchObject(
      notFound,
    )
  })

  test('an entry may be empty, and contain any bytes', async () => {
    for (const content of [bytes(''), Uint8Array.from({ length: 256 }, (_, index) => index)]) {
      const url = await createEntry(agent, owner.apiKey, content, { drid })
      expect(await askEntry(agent, 'GET', { url })).toMatchObject({ status: 200, bytes: content })
    }
  })

  test('another tenant can read an entry, and neither change nor delete it', async () => {
    const url = await createEntry(agent, owner.apiKey, bytes('112233'), { drid })
    const { apiKey } = other
    expect(await askEntry(agent, 'PUT', { url }, { apiKey, content: bytes('00') })).toMatchObject(notFound)
    expect(await askEntry(agent, 'DELETE', { url }, { apiKey })).toMatchObject(notFound)
    expect((await askEntry(agent, 'GET', { url }, { apiKey })).bytes).toEqual(bytes('112233'))
  })

  test('the number of a wallet’s entries is limited', async () => {
    const { apiKey } = await agent.newTenant('many')
    const urls: string[] = []
    for (let count = 0; count < 20; count++)
      urls.push(await createEntry(agent, apiKey, bytes('00'), { drid }))
    const refused = await askEntry(agent, 'POST', { drid }, { apiKey, content: bytes('00') })
    expect(refused).toMatchObject({
      status: 507,
      body: { type: 'error:VdrServiceError:TooManyEntries', detail: expect.stringContaining('20') },
    })
    await askEntry(agent, 'DELETE', { url: urls[0]! }, { apiKey })
    await createEntry(agent, apiKey, bytes('00'), { drid })
  })
})

const urlOf = (drid: string) =>
  new RegExp(String.raw`^vdr://\?drf=${drid}&drid=${drid}&drv=0\.1\.0&m=1#[0-9a-f-]{36}$`)

test('without a driver, the database is used; the parts of its name select a driver', async () => {
  const { apiKey } = owner
  expect(await createEntry(agent, apiKey, bytes('00'))).toMatch(urlOf('database'))
  for (const query of [
    { drf: 'database' },
    { drf: 'database', drid: 'database', drv: '0.1.0' },
    { drid: '' },
  ])
    expect(await createEntry(agent, apiKey, bytes('00'), query as {})).toMatch(urlOf('database'))
})

test.each([
  { drid: 'prism-node-2' },
  { drid: 'database', drf: 'memory' },
  { drid: 'database', drv: '9.9.9' },
])('an unknown driver is refused: %o', async (query: Record<string, string>) => {
  const { apiKey } = owner
  const { status, body } = await askEntry(agent, 'POST', query, { apiKey, content: bytes('00') })
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { type: 'error:VdrServiceError:DriverNotFound', detail: expect.stringContaining('drid=database') },
  })
})

test.each([
  ['', 'is not the URL'],
  ['no url', 'is not the URL'],
  ['ftp://x/?drid=database#1', 'is not the URL'],
  [`vdr://?drid=database#${'x'.repeat(1_000)}`, 'is not the URL'],
  ['vdr://?drf=database&drid=database&drv=0.1.0&m=1', 'names no driver, or no entry'],
  ['vdr://#3f0c0d5e-44c4-4d3c-9d1c-3f0a3c0f0d5e', 'names no driver, or no entry'],
  ['http://host-a.example/?drf=database&drid=database#1', 'at host-a.example, another agent'],
])('a malformed or foreign URL is refused: %s', async (url, reason) => {
  for (const method of ['GET', 'DELETE', 'PUT'] as const) {
    const content = method === 'PUT' ? { content: bytes('00') } : {}
    const { status, body } = await askEntry(agent, method, { url }, { apiKey: owner.apiKey, ...content })
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { type: 'BadRequest', detail: expect.stringContaining(reason) },
    })
  }
})

test('a URL in the form of older Cloud Agents is read too, at this agent', async () => {
  const url = await createEntry(agent, owner.apiKey, bytes('112233'))
  const old = url.replace('vdr://', `${agent.url}/`)
  expect(await askEntry(agent, 'GET', { url: old })).toMatchObject({ status: 200, bytes: bytes('112233') })
})

test('the URL of an entry is required, and a driver that is not enabled has no entries', async () => {
  expect(await askEntry(agent, 'GET', {})).toMatchObject({ status: 400 })
  const plain = await sharedAgent({ VDR_DATABASE_DRIVER_ENABLED: 'false' })
  const { apiKey } = await plain.newTenant()
  for (const answer of [
    await askEntry(plain, 'POST', { drid: 'database' }, { apiKey, content: bytes('00') }),
    await askEntry(plain, 'GET', { url: 'vdr://?drf=database&drid=database&drv=0.1.0&m=1#1' }),
  ])
    expect(answer).toMatchObject({ status: 400, body: { type: 'error:VdrServiceError:DriverNotFound' } })
})

test('an entry that is too large or of another media type is refused', async () => {
  const { apiKey } = owner
  const url = await createEntry(agent, apiKey, new Uint8Array(1_000))
  for (const [method, query] of [
    ['POST', {}],
    ['PUT', { url }],
  ] as const) {
    expect(await askEntry(agent, method, query, { apiKey, content: new Uint8Array(1_001) })).toMatchObject({
      status: 413,
      body: { type: 'error:RequestBodyTooLarge' },
    })
    const json = { apiKey, content: bytes('7b7d'), type: 'application/json' }
    expect(await askEntry(agent, method, query, json)).toMatchObject({ status: 415 })
  }
  expect((await askEntry(agent, 'GET', { url })).bytes).toEqual(new Uint8Array(1_000))
  // HTTP clients of the JVM add a charset.
  const type = 'application/octet-stream; charset=ISO-8859-1'
  expect(await askEntry(agent, 'POST', {}, { apiKey, content: bytes('00'), type })).toMatchObject({
    status: 201,
  })
})

test('the bytes of entries count for the wallet', async () => {
  const small = await sharedAgent({ BYTES_PER_WALLET: '1048576', VDR_ENTRY_BYTES: '1048576' })
  const { apiKey } = await small.newTenant()
  const url = await createEntry(small, apiKey, new Uint8Array(100_000))
  const large = { apiKey, content: new Uint8Array(900_000) }
  const tooMany = { status: 507, body: { type: 'error:WalletManagementServiceError:TooManyBytes' } }
  expect(await askEntry(small, 'POST', {}, large)).toMatchObject(tooMany)
  expect(await askEntry(small, 'PUT', { url }, large)).toMatchObject(tooMany)
  expect((await askEntry(small, 'GET', { url })).bytes).toHaveLength(100_000)
})

test('the reads of one address are limited', async () => {
  const slow = await sharedAgent({ VDR_READS_PER_MINUTE: '1' })
  const url = 'vdr://?drf=database&drid=database&drv=0.1.0&m=1#1'
  expect((await askEntry(slow, 'GET', { url })).status).toBe(404)
  expect((await askEntry(slow, 'GET', { url })).status).toBe(429)
})
