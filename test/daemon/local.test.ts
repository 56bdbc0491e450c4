/** A daemon on a developer's machine refuses web pages (CSRF, DNS rebinding). */
import { expect, test } from 'vitest'
import { createApp } from '../../daemon/server/app.ts'
import { isLocalHost } from '../../src/foundation/net/public-url.ts'
import { sharedAgent, startAgent } from '../support/agent.ts'
import { statusWith } from '../support/ask.ts'
import { startServer } from '../support/server.ts'
import { untilEnd } from '../support/shared.ts'

const agent = await untilEnd(startAgent({ REST_SERVICE_URL: 'https://agent.example:8443/base' }))

test.each([
  [{}, 200],
  [{ host: 'localhost:8085' }, 200],
  [{ host: 'LOCALHOST' }, 200],
  [{ host: 'my.localhost' }, 200],
  [{ host: '127.0.0.1' }, 200],
  [{ host: '127.8.9.1:80' }, 200],
  [{ host: '[::1]:8085' }, 200],
  [{ host: 'agent.example' }, 200],
  [{ host: 'evil.example' }, 403],
  [{ host: 'localhost.evil.example' }, 403],
  [{ host: 'notlocalhost' }, 403],
  [{ host: '127.0.0.1.evil.example' }, 403],
  [{ host: '192.168.1.7' }, 403],
  [{ host: '0.0.0.0' }, 403],
  [{ origin: 'http://localhost:3000' }, 200],
  [{ origin: 'https://agent.example' }, 200],
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'http://localhost.evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{ origin: '' }, 403],
  [{ host: 'localhost', origin: 'http://evil.example' }, 403],
  [{ host: 'evil.example', origin: 'http://localhost' }, 403],
])('a request with %j is answered %i', async (headers, status) => {
  expect(await statusWith(agent.url, headers)).toBe(status)
})

test('the refusal is a problem with a remedy', async () => {
  const response = await agent.send('GET', '/_system/health', { headers: { origin: 'https://evil.example' } })
  expect(await response.json()).toMatchObject({
    status: 403,
    type: 'error:LocalAccessOnly',
    detail: expect.stringContaining('REST_SERVICE_URL'),
  })
})

test('an agent that other machines reach requires neither header', async () => {
  const open = await sharedAgent({ AGENT_HOST: '0.0.0.0' })
  expect(await statusWith(open.url, { host: 'anything.example', origin: 'https://app.example' })).toBe(200)
})

test('an agent in a local network answers at its address and at loopback ones', async () => {
  const { config, env } = agent.agent
  const lan = { ...config, AGENT_HOST: '0.0.0.0', AGENT_LAN: '192.168.1.10/24' }
  const urls = { ...env.urls, rest: 'http://192.168.1.10:8085' }
  const there = Object.create(agent.agent, {
    config: { value: lan },
    env: { value: Object.create(env, { urls: { value: urls } }) },
  }) as typeof agent.agent
  await using server = await startServer(createApp(there, []).callback())
  const statuses = Object.entries({
    'localhost:8085': 404,
    '192.168.1.10:8085': 404,
    '192.168.1.11': 403,
    'evil.example': 403,
  })
  for (const [host, status] of statuses) expect(await statusWith(server.url, { host }), host).toBe(status)
  expect(await statusWith(server.url, { origin: 'https://evil.example' })).toBe(403)
  expect(await statusWith(server.url, { origin: 'http://192.168.1.10:8085' })).toBe(404)
})

test.each(['localhost', '127.0.0.1', '::1', '[::1]', '::ffff:127.0.0.1'])('%s is this machine', (name) =>
  expect(isLocalHost(name)).toBe(true),
)
test.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', '', 'localhost.'])('%s is not', (name) =>
  expect(isLocalHost(name)).toBe(false),
)
