/** `/events/webhooks` (service §2.8, §4.5, api.md 4.15). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../../_agent.ts'

let agent: TestAgent
beforeAll(async () => {
  agent = await startAgent({ WEBHOOKS_PER_WALLET: '2', GLOBAL_WEBHOOK_URL: 'http://127.0.0.1:9/global' })
})
afterAll(() => agent[Symbol.asyncDispose]())

const url = 'http://127.0.0.1:9/hook?a=b'

test('a webhook is registered with 200, listed, read and deleted with 200 and no body', async () => {
  const { call, apiKey } = await agent.newTenant()
  const created = await agent.send('POST', '/events/webhooks', { headers: { apikey: apiKey }, body: JSON.stringify({ url }) })
  const webhook = (await created.json()) as { id: string }
  expect([created.status, webhook]).toEqual([200, { id: expect.any(String), url, customHeaders: {}, createdAt: expect.any(String) }])
  expect(await call('GET /events/webhooks')).toEqual({
    self: '/events/webhooks',
    kind: 'WebhookNotificationPage',
    pageOf: '/events/webhooks',
    contents: [webhook],
  })
  const path = { id: webhook.id }
  expect(await call('GET /events/webhooks/{id}', { path })).toEqual(webhook)
  const deleted = await agent.send('DELETE', `/events/webhooks/${webhook.id}`, { headers: { apikey: apiKey } })
  expect([deleted.status, await deleted.text()]).toEqual([200, ''])
  await expect(call('GET /events/webhooks/{id}', { path })).rejects.toMatchObject({ problem: { status: 404, type: 'NotFound' } })
  await expect(call('DELETE /events/webhooks/{id}', { path })).rejects.toMatchObject({ problem: { status: 404, type: 'NotFound' } })
})

test('headers are kept as they were given', async () => {
  const { call } = await agent.newTenant()
  const customHeaders = { Authorization: 'Bearer abc', 'X-Ours': '1' }
  const { id } = await call('POST /events/webhooks', { body: { url, customHeaders } })
  expect(await call('GET /events/webhooks/{id}', { path: { id } })).toMatchObject({ customHeaders })
})

test('a wallet sees its own webhooks and not those of others, nor the global one', async () => {
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  const { id } = await one.call('POST /events/webhooks', { body: { url } })
  expect((await two.call('GET /events/webhooks')).contents).toEqual([])
  await expect(two.call('GET /events/webhooks/{id}', { path: { id } })).rejects.toMatchObject({ problem: { status: 404 } })
  await expect(two.call('DELETE /events/webhooks/{id}', { path: { id } })).rejects.toMatchObject({ problem: { status: 404 } })
  expect((await one.call('GET /events/webhooks')).contents).toHaveLength(1)
})

test('one webhook too many is 422, and pages show the others one by one', async () => {
  const { call } = await agent.newTenant()
  const [first, second] = [await call('POST /events/webhooks', { body: { url } }), await call('POST /events/webhooks', { body: { url } })]
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
  [{ url, customHeaders: ['x'] }, 'customHeaders: '],
])('%j is 400', async (body, reason) => {
  await expect(agent.tenant('POST /events/webhooks', { body: body as { url: string } })).rejects.toMatchObject({
    problem: { status: 400, detail: expect.stringContaining(reason) },
  })
})
