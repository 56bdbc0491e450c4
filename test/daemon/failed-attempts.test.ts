/** The limit of wrong keys per address, and their absence from the log. */
import { afterEach, expect, test, vi } from 'vitest'
import { createLog } from '../../src/foundation/log.ts'
import { adminToken, sharedAgent, startAgent, type TestAgent } from '../support/agent.ts'
import { ask as send } from '../support/ask.ts'

afterEach(() => {
  vi.useRealTimers()
})

const limited = { FAILED_ATTEMPTS_PER_MINUTE: '3', AGENT_TRUST_PROXY: 'true' }

async function ask(
  agent: TestAgent,
  headers: Record<string, string>,
  path = '/connections',
  from = '198.51.100.7',
) {
  const reply = await send(agent, `GET ${path}`, { headers: { ...headers, 'x-forwarded-for': from } })
  return { ...reply, retryAfter: reply.headers.get('retry-after') }
}

/** Registers a key that is short enough to guess. */
async function newShortKey(agent: TestAgent) {
  const { entityId } = await agent.newTenant()
  const apiKey = 'a-short-key-of-a-tenant'
  await agent.admin('POST /iam/apikey-authentication', { body: { entityId, apiKey } })
  return { entityId, apiKey }
}

test('above the limit of wrong keys, an address gets no new short key accepted, not even a valid one', async () => {
  await using agent = await startAgent(limited)
  const { apiKey } = await newShortKey(agent)
  for (const wrong of [{ apikey: 'guess-1' }, { 'x-admin-api-key': 'guess-2' }, { apikey: 'guess-3' }])
    expect((await ask(agent, wrong, 'apikey' in wrong ? '/connections' : '/wallets')).status).toBe(401)
  for (const attempt of [{ apikey: 'guess-4' }, { apikey: apiKey }, { 'x-admin-api-key': adminToken }]) {
    const { status, retryAfter, body } = await ask(
      agent,
      attempt,
      'apikey' in attempt ? '/connections' : '/wallets',
    )
    expect([status, body.type]).toEqual([429, 'TooManyRequests'])
    expect(Number(retryAfter)).toBeGreaterThan(0)
    expect(Number(retryAfter)).toBeLessThanOrEqual(60)
  }
  // The enterprise suite has its own error format.
  expect((await ask(agent, { apikey: 'guess-5' }, '/did-authentication/challenges')).body.type).toBe(
    '/errors/common/too-many-requests',
  )
  // Other addresses are not affected.
  expect((await ask(agent, { apikey: apiKey }, '/connections', '198.51.100.8')).status).toBe(200)
})

test('a valid key that is too long to guess is never refused, for the administrator and for tenants; a wrong one is', async () => {
  const token = 'an-administrator-of-32-characters'
  await using agent = await startAgent({
    ...limited,
    ADMIN_TOKEN: token,
    DEFAULT_WALLET_AUTH_API_KEY: '0123456789abcdef0123456789abcdef',
  })
  const long = { apikey: '0123456789abcdef0123456789abcdef' }
  for (let guess = 0; guess < 5; guess += 1) await ask(agent, { apikey: `guess-${guess}` })
  expect((await ask(agent, { apikey: 'guess-6' })).status).toBe(429)
  expect((await ask(agent, { apikey: 'f'.repeat(32) })).status).toBe(429)
  expect((await ask(agent, long)).status).toBe(200)
  expect((await ask(agent, { 'x-admin-api-key': token }, '/wallets')).status).toBe(200)
  // A long key in the other header does not help a short one.
  expect((await ask(agent, { ...long, 'x-admin-api-key': 'guess' }, '/wallets')).status).toBe(429)
})

test('a key that the address used successfully before still works, until it is revoked', async () => {
  await using agent = await startAgent(limited)
  const { apiKey, entityId } = await newShortKey(agent)
  expect((await ask(agent, { apikey: apiKey })).status).toBe(200)
  for (let guess = 0; guess < 5; guess += 1) await ask(agent, { apikey: `guess-${guess}` })
  expect((await ask(agent, { apikey: 'guess-6' })).status).toBe(429)
  expect((await ask(agent, { apikey: apiKey })).status).toBe(200)
  // A missing key, and a tenant's key on an admin endpoint, do not count.
  expect((await ask(agent, {})).status).toBe(401)
  expect((await ask(agent, { apikey: apiKey }, '/iam/entities')).status).toBe(403)
  await agent.admin('DELETE /iam/apikey-authentication', { body: { entityId, apiKey } })
  expect((await ask(agent, { apikey: apiKey })).status).toBe(429)
})

test('a tenant cannot guess the administrator’s token beside its own key', async () => {
  await using agent = await startAgent(limited)
  const { apiKey } = await newShortKey(agent)
  const guess = async (token: string) =>
    (await ask(agent, { apikey: apiKey, 'x-admin-api-key': token }, '/wallets')).status
  expect([
    await guess('1'),
    await guess('2'),
    await guess('3'),
    await guess('4'),
    await guess(adminToken),
  ]).toEqual([200, 200, 200, 429, 429])
})

test('a wrong key is logged with its address, once as a warning above the limit, and never with its value', async () => {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  })
  await using agent = await startAgent(limited, { log })
  for (let guess = 0; guess < 5; guess += 1) await ask(agent, { apikey: `a-guess-at-a-key-${guess}` })
  const about = lines.filter(({ route, address }) => route === 'GET /connections' || address !== undefined)
  expect(about.map(({ status, address, level }) => [status, address, level])).toEqual([
    [401, '198.51.100.7', 30],
    [401, '198.51.100.7', 30],
    [401, '198.51.100.7', 30],
    [undefined, '198.51.100.7', 40],
    [429, undefined, 30],
    [429, undefined, 30],
  ])
  expect(JSON.stringify(lines)).not.toContain('a-guess')
})

test('two administrator tokens are valid during a change, and the agent stores neither', async () => {
  const agent = await sharedAgent({ ADMIN_TOKEN_PREVIOUS: 'the-administrator-before' })
  const statusOf = async (token: string) =>
    (await agent.send('GET', '/wallets', { headers: { 'x-admin-api-key': token } })).status
  expect([await statusOf(adminToken), await statusOf('the-administrator-before')]).toEqual([200, 200])
  expect([await statusOf('the-administrator-after'), await statusOf('')]).toEqual([401, 401])
  const { ADMIN_TOKEN, ADMIN_TOKEN_PREVIOUS } = agent.agent.config
  expect([ADMIN_TOKEN, ADMIN_TOKEN_PREVIOUS]).toEqual([undefined, undefined])
})
