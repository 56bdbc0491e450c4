/** CORS and security headers of both servers. */
import { afterAll, describe, expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { statusWith } from '../support/ask.ts'

const app = 'https://app.example'
const preflight = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'apikey,content-type',
}

const AGENT_CORS_ORIGINS = `${app}, https://other.example:8443`
const open = await startAgent({
  AGENT_HOST: '0.0.0.0',
  AGENT_CORS_ORIGINS,
  REST_SERVICE_URL: 'https://agent.example',
})
const local = await startAgent({ AGENT_CORS_ORIGINS })
const closed = await startAgent({ AGENT_HOST: '0.0.0.0' })
afterAll(() => Promise.all([open, local, closed].map((agent) => agent[Symbol.asyncDispose]())))

/** The status of a response, and its CORS headers. */
async function ask(url: string, method: string, headers: Record<string, string>) {
  const response = await fetch(url, { method, headers })
  const words = [...response.headers].filter(([name]) => name.startsWith('access-control-'))
  return { status: response.status, headers: response.headers, words: Object.fromEntries(words) }
}
const servers = [
  ['the HTTP API', (agent: TestAgent) => `${agent.url}/_system/health`],
  ['the DIDComm endpoint', (agent: TestAgent) => `${agent.didcommUrl}/mailbox`],
] as const

describe.each(servers)('%s', (_, urlOf) => {
  test.each([app, 'https://other.example:8443'])(
    'allows preflights and reads of pages of %s',
    async (origin) => {
      const asked = await ask(urlOf(open), 'OPTIONS', { origin, ...preflight })
      expect(asked.status).toBe(204)
      expect(asked.words).toEqual({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers':
          'content-type, apikey, x-admin-api-key, authorization, x-wallet-id, x-request-id, traceparent, last-event-id, idempotency-key',
        'access-control-expose-headers': 'retry-after, www-authenticate, x-request-id, last-event-id',
        'access-control-max-age': '600',
      })
      const read = await ask(urlOf(open), 'GET', { origin })
      expect(read.words).toEqual({
        'access-control-allow-origin': origin,
        'access-control-expose-headers': 'retry-after, www-authenticate, x-request-id, last-event-id',
      })
      expect(read.headers.get('vary')).toMatch(/origin/i)
      expect(read.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    },
  )

  test.each([
    'https://evil.example',
    'http://app.example',
    'https://app.example:444',
    'https://app.example.evil.example',
    'https://sub.app.example',
    'https://APP.example',
    'https://app.example/',
    'null',
    '',
  ])('sends no CORS headers to pages of «%s»', async (origin) => {
    for (const headers of [{ origin, ...preflight }, { origin }]) {
      const asked = await ask(
        urlOf(open),
        'access-control-request-method' in headers ? 'OPTIONS' : 'GET',
        headers,
      )
      expect(asked.words).toEqual({})
      expect(asked.status === 204).toBe(false)
      // A cache must not return the response for one origin to another.
      expect(asked.headers.get('vary')).toMatch(/origin/i)
    }
  })

  test('sends no CORS headers without a list', async () => {
    for (const method of ['OPTIONS', 'GET']) {
      const { words, headers } = await ask(urlOf(closed), method, { origin: app, ...preflight })
      expect(words).toEqual({})
      expect(headers.get('vary') ?? '').not.toMatch(/origin/i)
    }
  })

  test('never allows cookies or other credentials of the browser', async () => {
    for (const agent of [open, closed]) {
      for (const method of ['OPTIONS', 'GET']) {
        const { words } = await ask(urlOf(agent), method, { origin: app, ...preflight })
        expect(words).not.toHaveProperty('access-control-allow-credentials')
        expect(Object.values(words)).not.toContain('*')
      }
    }
  })

  test('forbids rendering, framing, sniffing and caching with each response, also with errors', async () => {
    for (const [method, url] of [
      ['GET', urlOf(closed)],
      ['GET', new URL('/no/such/path', urlOf(closed)).href],
      ['POST', urlOf(closed)],
    ] as const) {
      const { headers } = await ask(url, method, {})
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': expect.any(String),
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      })
      expect(headers.has('x-powered-by')).toBe(false)
      expect(headers.has('strict-transport-security')).toBe(false)
    }
  })
})

test('an https URL sets Strict-Transport-Security', async () => {
  expect(
    (await ask(`${open.url}/_system/health`, 'GET', {})).headers.get('strict-transport-security'),
  ).toMatch(/^max-age=\d{7}/)
})

describe('a daemon on this machine', () => {
  test.each([
    [app, 200],
    ['http://localhost:3000', 200],
    ['https://evil.example', 403],
    ['https://sub.app.example', 403],
    ['null', 403],
  ])('answers pages of %s with %i', async (origin, status) => {
    expect((await ask(`${local.url}/_system/health`, 'GET', { origin })).status).toBe(status)
  })

  test('allows no page that is not listed, not even one of this machine', async () => {
    expect(
      (await ask(`${local.url}/_system/health`, 'GET', { origin: 'http://localhost:3000' })).words,
    ).toEqual({})
  })

  test('refuses a foreign host with any origin', async () => {
    expect(await statusWith(local.url, { host: 'evil.example', origin: app })).toBe(403)
  })
})
