/** The pictures of an issuer: added by the tenant, read by anyone. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent({ BYTES_PER_WALLET: '3000000' }))
const tenant = await agent.newTenant('issuer')
const newIssuer = async () => (await tenant.call('POST /oid4vci/issuers', { body: {} })).id

const png = Buffer.from('\x89PNG\r\n\x1a\n0123', 'latin1')
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><circle r="8"/></svg>')

async function add(issuerId: string, body: Uint8Array, apiKey = tenant.apiKey) {
  const headers = { 'content-type': 'application/octet-stream', apikey: apiKey }
  const url = `${agent.url}/oid4vci/issuers/${issuerId}/media`
  const response = await fetch(url, { method: 'POST', headers, body: body as never })
  return { status: response.status, body: (await response.json()) as any }
}

test('a picture is served by its digest, for ever, and does nothing in a browser', async () => {
  const issuerId = await newIssuer()
  for (const [bytes, mediaType] of [
    [png, 'image/png'],
    [svg, 'image/svg+xml'],
  ] as const) {
    const digest = createHash('sha256').update(bytes)
    const integrity = `sha256-${digest.copy().digest('base64')}`
    const uri = `${agent.url}/oid4vci/issuers/${issuerId}/media/${digest.digest('hex')}`
    const added = { status: 201, body: { uri, integrity, mediaType } }
    expect(await add(issuerId, bytes)).toEqual(added)
    expect(await add(issuerId, bytes)).toEqual(added)
    const response = await fetch(uri)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': mediaType,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'cross-origin',
    })
  }
  await tenant.call('DELETE /oid4vci/issuers/{issuerId}', { path: { issuerId } })
  expect((await add(issuerId, png)).status).toBe(404)
})

test.each([
  [
    'a script',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg">\n<script/></svg>'),
    'line 2 has the element script',
  ],
  ['text', Buffer.from('hello'), 'body: the picture is no picture'],
  ['nothing', Buffer.alloc(0), 'is no picture'],
  ['more than 256 KiB', Buffer.concat([png, Buffer.alloc(262_144)]), 'has 262156 bytes, more than 262144'],
])('%s is refused', async (_, bytes, reason) => {
  const { status, body } = await add(await newIssuer(), bytes)
  expect([status, body.detail]).toEqual([400, expect.stringContaining(reason)])
})

test('another tenant adds and removes no picture', async () => {
  const issuerId = await newIssuer()
  const other = await agent.newTenant('other')
  expect((await add(issuerId, png, other.apiKey)).status).toBe(404)
})

test('an issuer has 20 pictures; those that nothing names make room after ten minutes', async () => {
  const issuerId = await newIssuer()
  const numbered = (index: number) => Buffer.concat([png, Buffer.from([index])])
  const uris: string[] = []
  for (let index = 0; index < 20; index++) uris.push((await add(issuerId, numbered(index))).body.uri)
  const refused = await add(issuerId, numbered(20))
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('has 20 pictures')])
  const display = { name: 'Acme', logo: { uri: uris[0]! } }
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path: { issuerId }, body: { display } })
  await agent.agent.db
    .updateTable('credential_media')
    .set({ created_at: '2026-01-01T00:00:00.000Z' })
    .where('issuer_id', '=', issuerId)
    .execute()
  expect((await add(issuerId, numbered(20))).status).toBe(201)
  const statuses = await Promise.all(uris.map(async (uri) => (await fetch(uri)).status))
  expect(statuses[0]).toBe(200)
  expect(statuses.filter((status) => status === 404)).toHaveLength(1)
})

test('pictures count for the bytes of a wallet', async () => {
  const issuerId = await newIssuer()
  const large = (index: number) => Buffer.concat([png, Buffer.alloc(262_000, index)])
  const statuses: number[] = []
  for (let index = 0; index < 9; index++) statuses.push((await add(issuerId, large(index))).status)
  expect(statuses[0]).toBe(201)
  expect(statuses.at(-1)).toBe(507)
})
