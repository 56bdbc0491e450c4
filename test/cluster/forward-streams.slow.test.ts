/** Event streams and connections between nodes, while requests are forwarded. */
import { once } from 'node:events'
import { request } from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../daemon/client/client.ts'
import { createPeerAgent } from '../../daemon/nodes/connection.ts'
import { bindPeerListener } from '../../daemon/nodes/listener.ts'
import { adminToken } from '../support/api.ts'
import { follow } from '../support/events.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import { until } from '../support/tenants.ts'
import { startNodes, type Nodes } from './_nodes.ts'

needsPostgres()

let nodes: Nodes
beforeAll(async () => void (nodes = await startNodes(['a', 'b'])))
afterAll(() => nodes[Symbol.asyncDispose]())

test('300 event streams of another node keep no request waiting', async () => {
  const [first, owner] = nodes.daemons
  const tenants = await Promise.all(Array.from({ length: 6 }, () => owner!.newTenant('listener')))
  const streams = await Promise.all(
    tenants.flatMap(({ apiKey }) => Array.from({ length: 50 }, () => follow(first!.url, { apikey: apiKey }))),
  )
  const { contents } = await createClient(first!.url, { apikey: tenants[0]!.apiKey })('GET /connections')
  expect(contents).toEqual([])
  for (const stream of streams) stream.close()
})

test('the node that sends requests decides when an idle connection ends', async () => {
  const key = new Uint8Array(32).fill(1)
  const listener = await bindPeerListener('127.0.0.1:0')
  listener.serve(key, {
    rest: (_, response) => response.end(),
    didcomm: (_, response) => response.end(),
  })
  const agent = createPeerAgent(key)
  const [host, port] = listener.address.split(':')
  const headers = { 'x-agent-forwarded': JSON.stringify({ to: 'rest', address: '10.0.0.1' }) }
  const sent = request({ agent, host, port, headers }).end()
  const [response] = await once(sent, 'response')
  // Otherwise the other node announces a time after which it closes the connection, and a request may arrive
  // at that moment.
  expect(response.headers).toMatchObject({ connection: 'keep-alive' })
  expect(response.headers).not.toHaveProperty('keep-alive')
  response.resume()
  agent.destroy()
  listener.server.close()
})

test('an event stream ends when another node has taken over from one that is paused', async () => {
  const [first, paused] = nodes.daemons
  const { apiKey } = await paused!.newTenant('listener')
  const stream = await follow(first!.url, { apikey: apiKey })
  process.kill(paused!.pid, 'SIGSTOP')
  try {
    await expect(stream.rest()).rejects.toThrow()
    const again = await follow(first!.url, { apikey: apiKey })
    const { connectionId } = await createClient(first!.url, { apikey: apiKey })('POST /connections', {
      body: { label: 'label' },
    })
    expect((await again.take(1))[0]!.data).toMatchObject({ connectionId })
    again.close()
  } finally {
    process.kill(paused!.pid, 'SIGCONT')
  }
})

test('the administrator’s stream at any node has the events of the wallets of all nodes', async () => {
  const tenants = await Promise.all(nodes.daemons.map((daemon) => daemon.newTenant('tenant')))
  /** Whether the stream had all events before it ended: wallets get other owners after the start of a node. */
  const hasAll = async (url: string): Promise<boolean> => {
    const stream = await follow(url, { 'x-admin-api-key': adminToken })
    const made = await Promise.all(
      tenants.map(({ call }) => call('POST /connections', { body: { label: 'label' } })),
    )
    const events = await stream.take(tenants.length).catch(() => [])
    stream.close()
    const thids = made.map(({ thid }) => thid)
    return thids.every((thid) => events.some(({ data }) => data['thid'] === thid))
  }
  for (const { url } of nodes.daemons) await until('all events', () => hasAll(url), Boolean)
})
