/** `/events/webhooks`: registration, secrets, deliveries, isolation. */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { withDetail } from '../../support/detail.ts'
import { refusal } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(
  startAgent({ WEBHOOKS_PER_WALLET: '2', GLOBAL_WEBHOOK_URL: 'http://127.0.0.1:9/global' }),
)

const url = 'http://127.0.0.1:9/hook?a=b'

test('a webhook is registered with 200, listed, read and deleted with 200 and no body', async () => {
  const { call, apiKey } = await agent.newTenant()
  const { status, body: webhook } = await ask(agent, 'POST /events/webhooks', { apiKey, body: { url } })
  expect([status, webhook]).toEqual([
    200,
    { id: expect.any(String), url, customHeaders: {}, createdAt: expect.any(String) },
  ])
  expect(await call('GET /events/webhooks')).toEqual({
    self: '/events/webhooks',
    kind: 'WebhookNotificationPage',
    pageOf: '/events/webhooks',
    contents: [webhook],
  })
  const path = { id: webhook.id }
  expect(await call('GET /events/webhooks/{id}', { path })).toEqual(webhook)
  const deleted = await ask(agent, `DELETE /events/webhooks/${webhook.id}`, { apiKey })
  expect([deleted.status, deleted.body]).toEqual([200, undefined])
  const gone = { problem: { status: 404, type: 'NotFound' } }
  await expect(call('GET /events/webhooks/{id}', { path })).rejects.toMatchObject(gone)
  await expect(call('DELETE /events/webhooks/{id}', { path })).rejects.toMatchObject(gone)
})

test('header values are returned once to the client that sends them, and masked afterwards', async () => {
  const { call } = await agent.newTenant()
  const customHeaders = { Authorization: 'Bearer abc', 'X-Custom': '1' }
  const masked = { Authorization: '***', 'X-Custom': '***' }
  const created = await call('POST /events/webhooks', { body: { url, customHeaders } })
  expect(created.customHeaders).toEqual(customHeaders)
  expect((await call('GET /events/webhooks/{id}', { path: { id: created.id } })).customHeaders).toEqual(
    masked,
  )
  expect((await call('GET /events/webhooks')).contents).toMatchObject([{ customHeaders: masked }])
})

test('a secret is returned once, replaced and removed', async () => {
  const { call } = await agent.newTenant()
  const created = await call('POST /events/webhooks', { body: { url, signed: true } })
  const path = { id: created.id }
  expect(created).toMatchObject({ signed: true, secret: expect.stringMatching(/^whsec_/) })
  const { secret, ...rest } = created
  expect(await call('GET /events/webhooks/{id}', { path })).toEqual(rest)
  const renewed = await call('POST /events/webhooks/{id}/secret', { path })
  expect(renewed).toEqual({ secret: expect.stringMatching(/^whsec_/), previousUntil: expect.any(String) })
  expect(renewed.secret).not.toBe(secret)
  expect(Date.parse(renewed.previousUntil!) - Date.now()).toBeGreaterThan(3_500_000)
  await call('DELETE /events/webhooks/{id}/secret', { path })
  expect(await call('GET /events/webhooks/{id}', { path })).not.toHaveProperty('signed')
  expect(await call('POST /events/webhooks/{id}/secret', { path })).toEqual({
    secret: expect.stringMatching(/^whsec_/),
  })
})

test('neither secrets nor header values are stored in plain text', async () => {
  const { call } = await agent.newTenant()
  const { secret } = await call('POST /events/webhooks', {
    body: { url, customHeaders: { 'X-Key': 'canary-7b1c' }, signed: true },
  })
  const names = readdirSync(agent.dataDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.db/.test(name),
  )
  const files = names.map((name) => readFileSync(join(agent.dataDir, name)))
  expect(files.some((file) => file.includes(url))).toBe(true)
  for (const canary of ['canary-7b1c', secret!, secret!.slice(6)])
    expect(files.filter((file) => file.includes(canary))).toEqual([])
})

test.each([
  ['GET', '/deliveries', undefined],
  ['POST', '/replay', '{"failed":true}'],
  ['POST', '/test', ''],
  ['POST', '/secret', ''],
  ['DELETE', '/secret', undefined],
])('%s …%s of another tenant’s webhook or of the global one is 404', async (method, rest, body) => {
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  const { id } = await one.call('POST /events/webhooks', { body: { url } })
  for (const wanted of [id, randomUUID(), 'global']) {
    const key = `${method} /events/webhooks/${wanted}${rest}`
    expect((await ask(agent, key, { apiKey: two.apiKey, body })).status).toBe(404)
  }
})

test.each([
  ['{}', 'exactly one of eventId, since and failed'],
  ['{"failed":true,"since":"2030-01-01T00:00:00Z"}', 'exactly one of eventId, since and failed'],
  ['{"since":"yesterday"}', 'since: '],
  ['{"eventId":"1"}', 'eventId: '],
  ['{"everything":true}', 'everything'],
])('a replay of %s is 400', async (body, reason) => {
  const { call, apiKey } = await agent.newTenant()
  const { id } = await call('POST /events/webhooks', { body: { url } })
  const { body: refused } = await ask(agent, `POST /events/webhooks/${id}/replay`, { apiKey, body })
  expect(refused).toMatchObject(withDetail(400, reason))
})

test('a list of deliveries with an unknown outcome is 400', async () => {
  const { call, apiKey } = await agent.newTenant()
  const { id } = await call('POST /events/webhooks', { body: { url } })
  const { body } = await ask(agent, `GET /events/webhooks/${id}/deliveries?outcome=lost`, { apiKey })
  expect(body).toMatchObject(withDetail(400, 'outcome: '))
})

test('a wallet lists its own webhooks, without those of others and the global one', async () => {
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  const { id } = await one.call('POST /events/webhooks', { body: { url } })
  expect((await two.call('GET /events/webhooks')).contents).toEqual([])
  const missing = { problem: { status: 404 } }
  await expect(two.call('GET /events/webhooks/{id}', { path: { id } })).rejects.toMatchObject(missing)
  await expect(two.call('DELETE /events/webhooks/{id}', { path: { id } })).rejects.toMatchObject(missing)
  expect((await one.call('GET /events/webhooks')).contents).toHaveLength(1)
})

test('webhooks above the limit are 422, and pages list the others one by one', async () => {
  const { call } = await agent.newTenant()
  const [first, second] = [
    await call('POST /events/webhooks', { body: { url } }),
    await call('POST /events/webhooks', { body: { url } }),
  ]
  await expect(call('POST /events/webhooks', { body: { url } })).rejects.toMatchObject({
    problem: { status: 422, type: 'error:WalletManagementServiceError:TooManyWebhookError' },
  })
  const page = await call('GET /events/webhooks', { query: { limit: 1 } })
  expect([page.contents, page.next]).toEqual([[first], '/events/webhooks?limit=1&offset=1'])
  expect((await call('GET /events/webhooks', { query: { offset: 1 } })).contents).toEqual([second])
})

test.each([
  [{ url: 'not a url' }, 'url: '],
  [{ url: '/relative' }, 'url: '],
  [{ url: 'ftp://example.com' }, 'url: '],
  [{}, 'url: '],
  [{ url, customHeaders: { 'bad name': 'x' } }, 'customHeaders.bad name: '],
  [{ url, customHeaders: { Host: 'x' } }, 'customHeaders.Host: '],
  [{ url, customHeaders: { 'X-A': 'line\r\nbreak' } }, 'customHeaders.X-A: '],
  [{ url, customHeaders: { 'X-A\r\nX-B': 'x' } }, 'customHeaders.X-A'],
  [{ url, customHeaders: { 'Webhook-Signature': 'v1,x' } }, 'customHeaders.Webhook-Signature: '],
  [{ url, customHeaders: ['x'] }, 'customHeaders: '],
  [{ url, signed: 'yes' }, 'signed: '],
])('%j is 400', async (body, reason) => {
  const refused = await refusal(agent.tenant('POST /events/webhooks', { body: body as { url: string } }))
  expect(refused).toMatchObject(withDetail(400, reason))
})
