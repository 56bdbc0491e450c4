/**
 * Requests of one tenant do not delay another tenant, and each tenant has limits. Refusals have
 * `Retry-After`.
 */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { route } from '../../daemon/http/route.ts'
import { sharedAgent, startAgent, type TestAgent } from '../support/agent.ts'
import { ask as send } from '../support/ask.ts'
import { anyone } from './_route.ts'
import { built } from '../support/built.ts'
import { openParty } from '../support/party.ts'

/** Handlers that run until they are released. */
function openGate() {
  const held: (() => void)[] = []
  const waiting: { count: number; notify: () => void }[] = []
  const hold = () =>
    new Promise<void>((resolve) => {
      held.push(resolve)
      for (const { count, notify } of waiting) if (held.length >= count) notify()
    })
  return {
    hold,
    /** Resolves when `count` handlers have begun. */
    begun: (count: number) =>
      new Promise<void>((notify) => (held.length >= count ? notify() : waiting.push({ count, notify }))),
    count: () => held.length,
    detach: () => {
      for (const resolve of held) resolve()
    },
  }
}

const oneDirect = { TENANT_REQUESTS_AT_ONCE: '1', TENANT_REQUESTS_WAITING: '1' }
const one = { ...oneDirect, AGENT_TRUST_PROXY: 'true' }

async function startGated(variables: Record<string, string> = {}) {
  const gate = openGate()
  const gated = [
    ...built.routes,
    route('GET /held', { summary: '', operationId: '', access: 'tenant', reply: [204, null] }, () =>
      gate.hold(),
    ),
    route('GET /held-for-all', { ...anyone, reply: [204, null] }, () => gate.hold()),
  ]
  const agent = await startAgent({ ...one, ...variables }, { routes: gated })
  return {
    agent,
    gate,
    async [Symbol.asyncDispose]() {
      gate.detach()
      await agent[Symbol.asyncDispose]()
    },
  }
}

async function ask(agent: TestAgent, path: string, apiKey?: string, from = '198.51.100.7') {
  const { status, headers, body } = await send(agent, `GET ${path}`, {
    apiKey,
    headers: { 'x-forwarded-for': from },
  })
  return { status, retryAfter: headers.get('retry-after'), ...body }
}

test('a tenant with too many requests waits, then gets 429, while others are served', async () => {
  await using started = await startGated()
  const { agent, gate } = started
  const [{ apiKey: a }, { apiKey: b }] = [await agent.newTenant(), await agent.newTenant()]
  for (const key of [a, b]) expect((await ask(agent, '/connections', key)).status).toBe(200)
  const first = ask(agent, '/held', a)
  await gate.begun(1)
  const second = ask(agent, '/held', a)
  const third = ask(agent, '/held', a)
  const refusal = await Promise.race([second, third])
  expect(refusal).toMatchObject({ status: 429, type: 'TooManyRequests', retryAfter: '1' })
  const suite = await ask(agent, '/did-authentication/challenges', a)
  expect([suite.status, suite.type]).toEqual([429, '/errors/common/too-many-requests'])
  expect((await ask(agent, '/connections', b)).status).toBe(200)
  expect(gate.count()).toBe(1)
  gate.detach()
  expect((await first).status).toBe(204)
  await gate.begun(2)
  gate.detach()
  const ended = await Promise.all([second, third])
  expect(ended.filter(({ status }) => status === 204)).toHaveLength(1)
  expect((await ask(agent, '/connections', a)).status).toBe(200)
})

test('requests with invalid keys wait in the queue of their address', async () => {
  await using started = await startGated()
  const { agent, gate } = started
  const { apiKey } = await agent.newTenant()
  expect((await ask(agent, '/connections', apiKey)).status).toBe(200)
  const first = ask(agent, '/held-for-all', 'made-up-1')
  await gate.begun(1)
  const others = [ask(agent, '/held-for-all', 'made-up-2'), ask(agent, '/held-for-all', 'made-up-3')]
  expect(await Promise.race(others)).toMatchObject({ status: 429 })
  expect((await ask(agent, '/connections', apiKey)).status).toBe(200)
  expect((await ask(agent, '/_system/health', undefined, '198.51.100.8')).status).toBe(200)
  gate.detach()
  await first
  await gate.begun(2)
})

test('requests with a revoked key wait in the queue of their address again', async () => {
  await using started = await startGated()
  const { agent, gate } = started
  const { apiKey, entityId } = await agent.newTenant()
  expect((await ask(agent, '/connections', apiKey)).status).toBe(200)
  await agent.agent.tenants.keys.remove({ entityId, apiKey })
  expect((await ask(agent, '/connections', apiKey)).status).toBe(401)
  const first = ask(agent, '/held-for-all', apiKey)
  await gate.begun(1)
  const others = [ask(agent, '/held-for-all'), ask(agent, '/held-for-all')]
  expect(await Promise.race(others)).toMatchObject({ status: 429 })
  gate.detach()
  await first
  await gate.begun(2)
})

test('a request that waits for an event occupies no slot', async () => {
  await using started = await startGated()
  const { tenant } = started.agent
  const { id } = await tenant('POST /did-authentication/challenges')
  const waiting = tenant('GET /did-authentication/challenges/{challengeId}', {
    path: { challengeId: id },
    query: { wait: 50 },
  })
  expect((await tenant('GET /connections')).contents).toEqual([])
  started.agent.agent.notifier.close()
  expect((await waiting).id).toBe(id)
})

test('a request whose client has disconnected does not start', async () => {
  await using started = await startGated()
  const { agent, gate } = started
  const { apiKey } = await agent.newTenant()
  expect((await ask(agent, '/connections', apiKey)).status).toBe(200)
  const first = ask(agent, '/held', apiKey)
  await gate.begun(1)
  const leaving = new AbortController()
  const gone = fetch(`${agent.url}/held`, { headers: { apikey: apiKey }, signal: leaving.signal }).catch(
    () => 'gone',
  )
  // There is room for one that waits: once another is refused, it is there.
  await expect.poll(() => agent.agent.scheduler.waiting()).toBe(1)
  leaving.abort()
  expect(await gone).toBe('gone')
  await expect.poll(() => agent.agent.scheduler.waiting()).toBe(0)
  gate.detach()
  await first
  expect((await ask(agent, '/connections', apiKey)).status).toBe(200)
  expect(gate.count()).toBe(1)
})

test('the wallets that messages are addressed to take turns', async () => {
  // An agent behind a proxy does not call the loopback address of the party.
  await using agent = await startAgent(oneDirect)
  await using party = await openParty()
  const [a, b] = [await agent.newTenant(), await agent.newTenant()]
  const [toA, toB] = [await party.connect(a), await party.connect(b)]
  const ping = { type: 'https://didcomm.org/trust-ping/2.0/ping' }
  const mine = await agent.agent.scheduler.acquire(`mailbox of ${a.walletId}`)
  const sent = [party.send(toA.theirDid, ping), party.send(toA.theirDid, ping)]
  expect((await Promise.race(sent)).status).toBe(429)
  expect((await party.send(toB.theirDid, ping)).status).toBe(200)
  mine!.release()
  expect((await Promise.all(sent)).filter(({ status }) => status === 200)).toHaveLength(1)
})

test('the requests per minute of a tenant are limited for all of its keys together', async () => {
  const agent = await sharedAgent({ TENANT_REQUESTS_PER_MINUTE: '3' })
  const [a, b] = [await agent.newTenant(), await agent.newTenant()]
  const second = `second-${randomUUID()}`
  await agent.admin('POST /iam/apikey-authentication', { body: { entityId: a.entityId, apiKey: second } })
  for (const key of [a.apiKey, second, a.apiKey])
    expect((await ask(agent, '/connections', key)).status).toBe(200)
  const refusal = await ask(agent, '/connections', second)
  expect(refusal).toMatchObject({ status: 429, type: 'TooManyRequests' })
  expect(refusal.detail).toContain('TENANT_REQUESTS_PER_MINUTE')
  expect(Number(refusal.retryAfter)).toBeGreaterThan(0)
  expect(Number(refusal.retryAfter)).toBeLessThanOrEqual(60)
  expect((await ask(agent, '/did-authentication/challenges', a.apiKey)).type).toBe(
    '/errors/common/too-many-requests',
  )
  expect((await ask(agent, '/connections', b.apiKey)).status).toBe(200)
  expect((await agent.admin('GET /wallets')).contents.length).toBeGreaterThan(0)
})
