/** `GET /_system/metrics` and `GET /_system/ready`: who may read them, what they answer, and when. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { metricTable } from '../../../src/foundation/metric-table.ts'
import { adminToken, sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { Daemon } from '../../support/daemon.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { parseMetrics } from '../../support/prometheus.ts'

const token = 'the-token-of-prometheus-0123456789'
const bearer = (value: string) => ({ authorization: `Bearer ${value}` })

describe('the metrics of an agent on this machine', () => {
  let agent: TestAgent
  beforeAll(async () => (agent = await startAgent()))
  afterAll(() => agent[Symbol.asyncDispose]())

  test('anyone may read them, in the text format of Prometheus', async () => {
    const response = await agent.send('GET', '/_system/metrics')
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ])
    const families = parseMetrics(await response.text())
    for (const [name, { type, help }] of Object.entries(metricTable))
      expect(families.get(name), name).toMatchObject({ type, help })
    expect(families.has('process_resident_memory_bytes')).toBe(true)
  })

  test('the Cloud Agent’s names are there before the first flow', async () => {
    const text = await (await agent.send('GET', '/cloud-agent/_system/metrics')).text()
    for (const flow of ['connection', 'issuance', 'present_proof'])
      expect(text).toContain(`\n${flow}_flow_did_com_exchange_job_ms_gauge 0\n`)
  })

  test.each(['application/openmetrics-text; version=1.0.0', 'application/json', '*/*'])(
    'a client that asks for %s gets the same format',
    async (accept) => {
      const response = await agent.send('GET', '/_system/metrics', { headers: { accept } })
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/plain; version=0.0.4; charset=utf-8',
      ])
    },
  )

  test('promtool finds no fault but the names of the Cloud Agent', async ({ skip }) => {
    if (spawnSync('promtool', ['--version']).error) skip('promtool is not installed (Debian: prometheus)')
    const input = await (await agent.send('GET', '/_system/metrics')).text()
    const { stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    expect(stderr.split('\n').filter((line) => line !== '' && !line.includes('_flow_did_com_'))).toEqual([])
  })

  test('a wrong administrator’s token is refused even where none is needed', async () => {
    const response = await agent.send('GET', '/_system/metrics', { headers: { 'x-admin-api-key': 'wrong' } })
    expect([response.status, await response.json()]).toEqual([
      401,
      expect.objectContaining({ detail: 'Invalid Admin API key in header `x-admin-api-key`' }),
    ])
  })

  test('two scrapes at the same time both get everything', async () => {
    const scrape = async () => (await agent.send('GET', '/_system/metrics')).text()
    const sizes = (await Promise.all([scrape(), scrape()])).map((text) => parseMetrics(text).size)
    expect(sizes[0]).toBe(sizes[1])
  })
})

/** The status of a scrape. */
async function statusOf(agent: TestAgent, headers: Record<string, string>): Promise<number> {
  return (await agent.send('GET', '/_system/metrics', { headers })).status
}

test('a token closes the metrics to everyone else but the administrator', async () => {
  await using agent = await startAgent({ METRICS_TOKEN: token })
  const { apiKey } = await agent.newTenant()
  expect(await statusOf(agent, bearer(token))).toBe(200)
  expect(await statusOf(agent, { authorization: `bearer  ${token}` })).toBe(200)
  expect(await statusOf(agent, { 'x-admin-api-key': adminToken })).toBe(200)
  const wrong = [
    {},
    { apikey: apiKey },
    bearer(`${token}x`),
    bearer(''),
    bearer(adminToken),
    { authorization: `Basic ${Buffer.from(`metrics:${token}`).toString('base64')}` },
    { 'x-admin-api-key': token },
  ]
  for (const headers of wrong) expect(await statusOf(agent, headers), JSON.stringify(headers)).toBe(401)
  const refused = await agent.send('GET', '/_system/metrics', { headers: bearer('wrong') })
  expect(await refused.json()).toMatchObject({
    status: 401,
    type: 'error:AuthenticationError:InvalidCredentials',
    detail: expect.stringMatching(/^Invalid credentials for the metrics\. Send METRICS_TOKEN in the header/),
  })
})

test('an agent that others can reach shows its metrics to the administrator only', async () => {
  const agent = await sharedAgent({ AGENT_TRUST_PROXY: 'true' })
  expect(await statusOf(agent, {})).toBe(401)
  expect(await statusOf(agent, bearer(adminToken))).toBe(401)
  expect(await statusOf(agent, { 'x-admin-api-key': adminToken })).toBe(200)
})

test('without metrics there is nothing to read', async () => {
  const agent = await sharedAgent({ METRICS_ENABLED: 'false' })
  const response = await agent.send('GET', '/_system/metrics')
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining('METRICS_ENABLED=true') })
})

test('a short token is refused at the start', async () => {
  await expect(startAgent({ METRICS_TOKEN: 'short' })).rejects.toThrow(
    'METRICS_TOKEN: has less than 32 characters',
  )
})

test('a daemon that gets SIGTERM says that it is not ready before it closes its port', async () => {
  await using daemon = await Daemon.start()
  const stopped = daemon.stop()
  const answers: { status: number; body: unknown }[] = []
  const poll = async (): Promise<void> => {
    const answer = await fetch(`${daemon.url}/_system/ready`).catch(() => undefined)
    if (!answer) return
    answers.push({ status: answer.status, body: await answer.json().catch(() => undefined) })
    return poll()
  }
  // The port stays open while requests arrive, for two seconds at most.
  await Promise.all(Array.from({ length: 8 }, poll))
  await stopped
  const reasons = [{ check: 'running', detail: 'The agent is stopping.' }]
  expect(answers).toContainEqual({ status: 503, body: { status: 'not ready', reasons } })
})

test('the connections of a daemon are counted', async () => {
  await using daemon = await Daemon.start()
  const text = await (await fetch(`${daemon.url}/_system/metrics`)).text()
  expect(text).toMatch(/^agent_http_connections\{server="api"\} [1-9]/m)
  expect(text).toContain('\nagent_http_connections{server="didcomm"} 0\n')
})

test('an agent whose data folder is gone is not ready, and still has metrics', async () => {
  await using folder = await temporaryFolder()
  const dataDir = join(folder.path, 'data')
  mkdirSync(dataDir)
  await using agent = await startAgent({}, { dataDir })
  renameSync(dataDir, `${dataDir}-moved`)
  const response = await agent.send('GET', '/_system/ready')
  expect([response.status, await response.json()]).toEqual([
    503,
    {
      status: 'not ready',
      reasons: [{ check: 'disk', detail: 'It cannot be used: there is no such file or folder.' }],
    },
  ])
  const metrics = parseMetrics(await (await agent.send('GET', '/_system/metrics')).text())
  expect(metrics.get('agent_ready')!.samples).toMatchObject([{ value: 0 }])
  expect(metrics.get('agent_data_folder_available_bytes')!.samples).toEqual([])
  renameSync(`${dataDir}-moved`, dataDir)
  expect((await agent.send('GET', '/_system/ready')).status).toBe(200)
})

test('an agent is ready until it stops, and says why it is not', async () => {
  const agent = await sharedAgent()
  const ask = async () => {
    const response = await agent.send('GET', '/_system/ready')
    return { status: response.status, ...((await response.json()) as object) }
  }
  expect(await ask()).toEqual({ status: 'ready', reasons: [] })
  agent.agent.readiness.stop()
  expect((await agent.send('GET', '/_system/ready')).status).toBe(503)
  expect(await ask()).toEqual({
    status: 'not ready',
    reasons: [{ check: 'running', detail: 'The agent is stopping.' }],
  })
  const metrics = parseMetrics(await (await agent.send('GET', '/_system/metrics')).text())
  expect(metrics.get('agent_ready')!.samples).toMatchObject([{ value: 0 }])
})
