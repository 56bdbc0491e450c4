/**
 * The metrics of an agent after flows: they agree with the event logs, and their number does not grow with
 * the tenants.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { appendEvent } from '../../src/wallet/events/event.ts'
import { defaultId } from '../../src/wallet/tenants.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { startAgent } from '../support/agent-from-sources.ts'
import { labelsOf, parseMetrics, sumOf, type Family } from '../support/prometheus.ts'
import { startServer } from '../support/server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { oobOf, presentationIn, until, type Tenant } from '../support/tenants.ts'
import { actOnProof, prove, requestProof, startWithCredential } from './_steps.ts'
import type { TestAgent } from '../support/agent.ts'
import { untilEnd } from '../support/shared.ts'

const flow = await untilEnd(startWithCredential())
const { issuer, holder, connectionId, recordId } = flow
const body = { connectionId, proofs: [], options: { challenge: randomUUID(), domain: 'a.example' } }
const { thid, asked, presentationId } = await requestProof(issuer, holder, body)
await prove(holder, presentationId, recordId)
await presentationIn(issuer.call, thid, 'PresentationVerified')
await actOnProof(issuer, asked.presentationId, { action: 'presentation-accept' })
await presentationIn(holder.call, thid, 'PresentationSent')

async function scrape({ send }: Pick<TestAgent, 'send'>): Promise<Map<string, Family>> {
  return parseMetrics(await (await send('GET', '/_system/metrics')).text())
}

type Logged = { type: string; data: Record<string, string> }

/** The events in the logs of tenants. */
async function eventsOf(tenants: readonly Tenant[]): Promise<Logged[]> {
  const lists = tenants.map(
    async ({ call }) => (await call('GET /events', { query: { limit: 100 } })).contents,
  )
  return (await Promise.all(lists)).flat() as unknown as Logged[]
}

/** How often each value comes. */
function countsOf(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values.toSorted()) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

/** The values above 0 of a counter, by some of its labels. */
function countedBy(
  families: Map<string, Family>,
  metric: string,
  ...labels: string[]
): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { labels: text, value } of families.get(metric)!.samples) {
    const key = labels.map((label) => labelsOf(text)[label]).join(' ')
    if (value > 0) counts[key] = (counts[key] ?? 0) + value
  }
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

test('the counters of events and transitions are those of the event logs', async () => {
  const { agent, issuer, holder } = flow
  const events = await eventsOf([issuer, holder])
  const byType = countsOf(events.map(({ type }) => type))
  expect(Object.keys(byType)).toHaveLength(4)
  // The increments follow the commit in the next tick of the event loop.
  const families = await until(
    'the counters',
    () => scrape(agent),
    (metrics) => sumOf(metrics, 'agent_events_total') === events.length,
  )
  expect(countedBy(families, 'agent_events_total', 'type')).toEqual(byType)
  const states = events
    .filter(({ type }) => type !== 'DIDStatusUpdated')
    .map(({ data }) => data['protocolState'] ?? data['status'] ?? data['state']!)
  expect(countedBy(families, 'agent_flow_transitions_total', 'state')).toEqual(countsOf(states))
  expect(countedBy(families, 'agent_flows_ended_total', 'protocol', 'role', 'outcome')).toEqual({
    'connection Invitee completed': 1,
    'connection Inviter completed': 1,
    'issue-credential Holder completed': 1,
    'issue-credential Issuer completed': 1,
    'present-proof Prover completed': 1,
    'present-proof Verifier completed': 1,
  })
})

test('credentials, presentations, messages and jobs are counted', async () => {
  const families = await scrape(flow.agent)
  const counted = (metric: string, ...labels: string[]) => countedBy(families, metric, ...labels)
  expect(counted('agent_credentials_issued_total', 'format')).toEqual({ JWT: 1 })
  expect(counted('agent_credentials_received_total', 'format', 'result')).toEqual({ 'JWT accepted': 1 })
  expect(counted('agent_presentations_received_total', 'format', 'result')).toEqual({ 'JWT accepted': 1 })
  expect(counted('agent_did_operations_total', 'operation', 'result')).toEqual({ 'create confirmed': 1 })
  const messages = {
    'connections/request': 1,
    'connections/response': 1,
    'issue-credential/issue-credential': 1,
    'issue-credential/offer-credential': 1,
    'issue-credential/request-credential': 1,
    'present-proof/presentation': 1,
    'present-proof/request-presentation': 1,
  }
  // One agent has both sides.
  expect(counted('agent_messages_received_total', 'type')).toEqual(messages)
  expect(counted('agent_messages_sent_total', 'type')).toEqual(messages)
  expect(counted('agent_messages_sent_total', 'outcome')).toEqual({ delivered: 7 })
  expect(
    sumOf(families, 'http_client_request_duration_seconds_count', { purpose: 'message', outcome: '2xx' }),
  ).toBe(7)
  expect(sumOf(families, 'agent_job_duration_seconds_count', { kind: 'message', outcome: 'done' })).toBe(7)
  expect(sumOf(families, 'http_server_request_duration_seconds_count', { http_route: '/{mailbox}' })).toBe(7)
  for (const flow of ['connection', 'issuance', 'present_proof'])
    expect(sumOf(families, `${flow}_flow_did_com_exchange_job_ms_gauge`)).toBeGreaterThan(0)
})

test('what waits is seen, also after a restart, and what was counted begins at 0 again', async () => {
  await using folder = await temporaryFolder()
  await using webhook = await startServer((_, response) => response.writeHead(500).end())
  const invitation = await goneInvitation()
  const restart = async (): Promise<Map<string, Family>> => {
    await using agent = await startAgent({}, { dataDir: folder.path })
    return await until(
      'what waits',
      () => scrape(agent),
      (metrics) =>
        sumOf(metrics, 'agent_jobs_waiting') > 0 && sumOf(metrics, 'agent_webhook_events_waiting') > 0,
    )
  }
  {
    await using agent = await startAgent({}, { dataDir: folder.path })
    await agent.tenant('POST /events/webhooks', { body: { url: webhook.url } })
    await agent.tenant('POST /connection-invitations', { body: { invitation } })
    await until(
      'a failed attempt at both',
      () => scrape(agent),
      (metrics) =>
        sumOf(metrics, 'agent_webhook_deliveries_total', { outcome: 'retried' }) === 1 &&
        sumOf(metrics, 'agent_job_duration_seconds_count', { outcome: 'failed' }) > 0,
    )
    const families = await scrape(agent)
    const value = (metric: string) => sumOf(families, metric)
    expect([value('agent_jobs_waiting'), value('agent_webhook_events_waiting')]).toEqual([1, 2])
    expect(value('agent_oldest_job_age_seconds')).toBeGreaterThan(0)
    expect(value('agent_oldest_webhook_event_age_seconds')).toBeGreaterThan(0)
    expect(
      sumOf(families, 'http_client_request_duration_seconds_count', { outcome: 'unreachable' }),
    ).toBeGreaterThan(0)
    expect(value('agent_events_total')).toBe(2)
  }
  const families = await restart()
  expect(sumOf(families, 'agent_jobs_waiting')).toBe(1)
  expect(sumOf(families, 'agent_webhook_events_waiting')).toBe(2)
  expect(sumOf(families, 'agent_events_total')).toBe(0)
})

/** An invitation of an agent that has ended. */
async function goneInvitation(): Promise<string> {
  await using gone = await startAgent()
  return oobOf(await gone.tenant('POST /connections', { body: { label: 'gone' } }))
}

test('a write that is rolled back beside others of its transaction counts nothing', async () => {
  await using agent = await startAgent()
  const { wallets, env } = agent.agent
  const event = { type: 'ConnectionUpdated', subject: 'a thread', data: {} } as const
  const write = (wallet: Wallet, fails: boolean) =>
    wallet.transaction(async (tx) => {
      await appendEvent(tx, event)
      if (fails) throw new Error('rolled back')
    })
  const ended = await wallets.use(defaultId, (wallet) =>
    Promise.allSettled([false, true, false, true].map((fails) => write(wallet, fails))),
  )
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
  await setImmediate()
  const { values } = (await env.metrics.snapshot()).find(({ name }) => name === 'agent_events_total')!
  expect(values.filter(({ value }) => value > 0)).toMatchObject([{ labels: { type: event.type }, value: 2 }])
})

test('fifty more tenants add no series', async () => {
  const { agent } = flow
  const act = async (tenant: Tenant) => {
    await tenant.call('POST /connections', { body: { label: 'other' } })
    await tenant.call('GET /connections')
  }
  await act(await agent.newTenant('first'))
  // The kinds of garbage collections and of open handles depend on what Node.js does.
  const seriesOf = (families: Map<string, Family>) =>
    [...families]
      .filter(([name]) => !name.startsWith('nodejs_'))
      .flatMap(([, { samples }]) => samples.map(({ name, labels }) => `${name}{${labels}}`))
      .toSorted()
  await scrape(agent)
  const before = await scrape(agent)
  await Promise.all(Array.from({ length: 50 }, async (_, n) => act(await agent.newTenant(`tenant ${n}`))))
  const after = await scrape(agent)
  expect(sumOf(after, 'agent_events_total')).toBeGreaterThan(sumOf(before, 'agent_events_total') + 49)
  expect(seriesOf(after)).toEqual(seriesOf(before))
  // A scrape stays small.
  expect(seriesOf(after).length).toBeLessThan(1_500)
})
