/** `verifyWebhook` with deliveries of a real agent, and with requests that were changed on the way. */
import type { IncomingHttpHeaders } from 'node:http'
import { Webhook as Standard } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningAgent } from '../../library/in-process/index.ts'
import { openReceiver } from '../support/receiver.ts'
import { client, failureOf, library } from './_library.ts'

const { verifyWebhook, verifyWebhookBatch } = client

type Delivery = { headers: IncomingHttpHeaders; body: string }

let agent: RunningAgent
let receiver: Awaited<ReturnType<typeof openReceiver>>
let id: string
let secret: string
beforeAll(async () => {
  agent = await library.createAgent()
  receiver = await openReceiver()
  const made = await agent.client('POST /events/webhooks', { body: { url: receiver.url, signed: true } })
  id = made.id
  secret = made.secret!
})
afterAll(async () => {
  await agent.close()
  await receiver[Symbol.asyncDispose]()
})

/** One more delivery. */
async function deliver(): Promise<Delivery> {
  await agent.client('POST /events/webhooks/{id}/test', { path: { id } })
  return { headers: receiver.requests.at(-1)!.headers, body: receiver.bodies.at(-1)! }
}

const faultOf = async (promise: Promise<unknown>) => {
  const { name, fault, message } = await failureOf(promise)
  return `${name} ${fault}: ${message}`
}

test('a delivery is verified with every form of headers and body', async () => {
  const { headers, body } = await deliver()
  const asFetch = new Headers(headers as Record<string, string>)
  const shouted = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
  for (const form of [headers, asFetch, shouted])
    for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body)])
      expect(await verifyWebhook(form, raw, secret)).toEqual(JSON.parse(body))
  expect(new Standard(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body))
})

test('the events of a webhook with a batch, and of one without', async () => {
  await using batched = await openReceiver()
  const made = await agent.client('POST /events/webhooks', {
    body: { url: batched.url, signed: true, batch: 5 },
  })
  expect(made.batch).toBe(5)
  await agent.client('POST /events/webhooks/{id}/test', { path: { id: made.id } })
  const { headers } = batched.requests[0]!
  const body = batched.bodies[0]!
  expect(await verifyWebhookBatch(headers, body, made.secret!)).toEqual(JSON.parse(body))
  expect(await faultOf(verifyWebhook(headers, body, made.secret!))).toBe(
    'WebhookError body: The body is an array of events; verifyWebhookBatch returns them.',
  )
  expect(await faultOf(verifyWebhookBatch(headers, `${body} `, made.secret!))).toMatch(
    /^WebhookError signature/,
  )
  await agent.client('DELETE /events/webhooks/{id}', { path: { id: made.id } })
  const single = await deliver()
  expect(await verifyWebhookBatch(single.headers, single.body, secret)).toEqual([JSON.parse(single.body)])
})

test('a request that differs in anything that is signed is refused', async () => {
  const { headers, body } = await deliver()
  const invalid = 'WebhookError signature: No signature of the request is by the secret of the webhook.'
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const later = String(Number(headers['webhook-timestamp']) + 1)
  const changed: Promise<unknown>[] = [
    verifyWebhook(headers, `${body} `, secret),
    verifyWebhook(headers, body.replace('{', '{ '), secret),
    verifyWebhook({ ...headers, 'webhook-id': crypto.randomUUID() }, body, secret),
    verifyWebhook({ ...headers, 'webhook-timestamp': later }, body, secret),
    verifyWebhook({ ...headers, 'webhook-signature': 'v1,AAAA' }, body, secret),
    verifyWebhook(
      { ...headers, 'webhook-signature': `v2${String(headers['webhook-signature']).slice(2)}` },
      body,
      secret,
    ),
    verifyWebhook(headers, body, other),
  ]
  for (const fault of await Promise.all(changed.map(faultOf))) expect(fault).toBe(invalid)
  // Past the limit of signatures, even a valid one does not count.
  const many = `${'v1,AAAA '.repeat(10)}${String(headers['webhook-signature'])}`
  expect(await faultOf(verifyWebhook({ ...headers, 'webhook-signature': many }, body, secret))).toBe(invalid)
})

test('old requests, requests without a header, and secrets that are none', async () => {
  const { headers, body } = await deliver()
  const standard = new Standard(secret)
  const at = (seconds: number) => {
    const date = new Date(Date.now() + seconds * 1_000)
    return {
      'webhook-id': 'an-id',
      'webhook-timestamp': String(Math.floor(date.getTime() / 1_000)),
      'webhook-signature': standard.sign('an-id', date, body),
    }
  }
  expect(await faultOf(verifyWebhook(at(-400), body, secret))).toBe(
    'WebhookError timestamp: The request is older than 300 s.',
  )
  expect(await faultOf(verifyWebhook(at(400), body, secret))).toBe(
    'WebhookError timestamp: The request is further in the future than 300 s.',
  )
  expect(await verifyWebhook(at(-400), body, secret, { toleranceSeconds: 500 })).toEqual(JSON.parse(body))
  expect(await faultOf(verifyWebhook({ ...headers, 'webhook-timestamp': 'NaN' }, body, secret))).toBe(
    'WebhookError headers: The header webhook-timestamp is not a number of seconds.',
  )
  const { 'webhook-signature': _, ...unsigned } = headers
  expect(await faultOf(verifyWebhook(unsigned, body, secret))).toMatch(
    /^WebhookError headers: The header webhook-signature is missing/,
  )
  expect(await faultOf(verifyWebhook({}, body, secret))).toMatch(/webhook-id is missing/)
  const text = 'not JSON'
  const signed = { ...at(0), 'webhook-signature': standard.sign('an-id', new Date(), text) }
  expect(await faultOf(verifyWebhook(signed, text, secret))).toBe('WebhookError body: The body is not JSON.')
  const parsed = verifyWebhook(headers, JSON.parse(body), secret)
  expect((await failureOf(parsed)).message).toMatch(/^rawBody: it is neither a text nor bytes/)
  for (const wrong of ['', 'secret-text', 'whsec_AAAA', []]) {
    const error = await failureOf(verifyWebhook(headers, body, wrong))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).not.toContain('secret-text')
  }
})

test('after a rotation, the old secret, the new one, or both of them verify', async () => {
  const next = await agent.client('POST /events/webhooks/{id}/secret', { path: { id } })
  const { headers, body } = await deliver()
  expect(String(headers['webhook-signature']).split(' ').length).toBe(2)
  for (const known of [secret, next.secret, [secret, next.secret], [next.secret, secret]])
    expect((await verifyWebhook(headers, body, known)).id).toBe(headers['webhook-id'])
  secret = next.secret
})
