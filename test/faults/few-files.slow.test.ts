/** With a low limit of open files, requests succeed or get 503 with `Retry-After`, never 500. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { fitOpenFiles } from '../../src/foundation/config/open-files.ts'
import { readConfig } from '../../src/foundation/config/config.ts'
import { Daemon } from '../support/daemon.ts'
import { until, type Tenant } from '../support/tenants.ts'

const canLimit = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0

test.runIf(canLimit).each([256, 128])('with %i open files no tenant gets a 500', async (limit) => {
  await using daemon = await Daemon.start({}, ['prlimit', `--nofile=${limit}:${limit}`])
  const tenants: Tenant[] = []
  for (let n = 0; n < 40; n++) tenants.push(await daemon.newTenant(`tenant ${n}`))
  const statuses = new Set<number>()
  for (let round = 0; round < 2; round++) {
    for (const response of await Promise.all(
      // A connection above AGENT_CONNECTIONS, which the limit of open files lowers, is closed.
      tenants.map(({ apiKey: apikey }) =>
        fetch(`${daemon.url}/connections`, { headers: { apikey } }).catch(() => undefined),
      ),
    )) {
      if (!response) continue
      statuses.add(response.status)
      if (response.status === 503) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      await response.arrayBuffer()
    }
  }
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
  // Sequential requests succeed, because idle wallets are closed. The first ones may meet connections that
  // are being closed.
  for (const { apiKey } of tenants) {
    await until(
      'an answer',
      () =>
        daemon.call('GET /connections', { apiKey }).then(
          ({ status }) => status,
          () => undefined,
        ),
      (status) => status === 200,
    )
  }
})

test('the setting is kept if the limit suffices, and lowered with a message otherwise', () => {
  const config = readConfig({})
  expect(fitOpenFiles(config, 1_048_576)).toEqual({ config })
  const few = fitOpenFiles(config, 256)
  expect(few.config.AGENT_OPEN_WALLETS * 3 + few.config.AGENT_CONNECTIONS * 2).toBeLessThan(256)
  expect(few.warning).toContain('256')
})

test('a mediator lowers its WebSockets too', () => {
  const config = readConfig({ AGENT_MEDIATOR: 'true', MEDIATOR_SOCKETS: '10000' })
  expect(fitOpenFiles(config, 1_048_576)).toEqual({ config })
  const few = fitOpenFiles(config, 4_096)
  const {
    AGENT_OPEN_WALLETS: wallets,
    AGENT_CONNECTIONS: connections,
    MEDIATOR_SOCKETS: sockets,
  } = few.config
  expect(wallets * 4 + connections * 2 + sockets).toBeLessThan(4_096)
  expect(sockets).toBeGreaterThan(connections)
  expect(few.warning).toContain(`${sockets} WebSockets`)
})
