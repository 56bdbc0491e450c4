/**
 * Requests between nodes: only nodes can send them, a node forwards them once, and they carry the address of
 * the client.
 */
import { once } from 'node:events'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPeerAgent } from '../../daemon/nodes/connection.ts'
import { startAgent } from '../support/agent.ts'
import { ask } from '../support/ask.ts'
import type { Daemon } from '../support/daemon.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import type { Tenant } from '../support/tenants.ts'
import { startNodes, type Nodes } from './_nodes.ts'

needsPostgres()

let nodes: Nodes
let other: Daemon
let owner: Daemon
/** A tenant of the owner. */
let tenant: Tenant
/** Connections with the key of the nodes. */
let peers: Agent
beforeAll(async () => {
  nodes = await startNodes(['other', 'owner'], {
    AGENT_TRUST_PROXY: 'true',
    SHORT_URL_REQUESTS_PER_MINUTE: '2',
  })
  ;[other, owner] = nodes.daemons as [Daemon, Daemon]
  tenant = await owner.newTenant('tenant')
  // A node in this process knows the key. It ends before the tests, so that it owns no wallets.
  const { AGENT_DATABASE_URL, AGENT_MASTER_KEY, REST_SERVICE_URL } = owner.env
  const shared = { AGENT_DATABASE_URL: AGENT_DATABASE_URL!, AGENT_MASTER_KEY: AGENT_MASTER_KEY! }
  await using node = await startAgent({
    ...shared,
    REST_SERVICE_URL: REST_SERVICE_URL!,
    AGENT_NODE_NAME: 'test',
  })
  peers = createPeerAgent(node.agent.getPeerKey())
})
afterAll(async () => {
  peers.destroy()
  await nodes[Symbol.asyncDispose]()
})

async function listenerOf(name: string): Promise<{ host: string; port: string }> {
  const [node] = await nodes.read<{ address: string }>(`select address from node where name = '${name}'`)
  const [host, port] = node!.address.split(':')
  return { host: host!, port: port! }
}

const details = JSON.stringify({ to: 'rest', address: '203.0.113.9' })

/** Sends a request to the listener of a node, as another node does. */
async function forward(name: string, method: string, headers: Record<string, string>) {
  const body = method === 'POST' ? JSON.stringify({ label: 'label' }) : ''
  const sent = request({
    ...(await listenerOf(name)),
    agent: peers,
    method,
    path: '/connections',
    headers: { 'content-type': 'application/json', ...headers },
  }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return {
    status: response.statusCode,
    headers: response.headers,
    body: JSON.parse((await text(response)) || '{}'),
  }
}

test('a request that was sent on is not sent on again: the second node refuses it, and nothing is done', async () => {
  const headers = { apikey: tenant.apiKey, 'x-agent-forwarded': details }
  for (const method of ['GET', 'POST']) {
    const refused = await forward('other', method, headers)
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1', 'x-agent-not-owner': '1' } })
    expect(refused.body.detail).toContain('is being taken over by another node')
  }
  const { contents } = await tenant.call('GET /connections')
  expect(contents).toEqual([])
  expect(await forward('owner', 'POST', headers)).toMatchObject({ status: 201 })
})

test('a request without the details of its client is refused', async () => {
  for (const wrong of [undefined, '', 'x', '{}', JSON.stringify({ to: 'admin', address: '10.0.0.1' })]) {
    const headers = { apikey: tenant.apiKey, ...(wrong !== undefined && { 'x-agent-forwarded': wrong }) }
    expect(await forward('owner', 'GET', headers)).toMatchObject({ status: 400 })
  }
})

test('the key of the nodes replaces no key of a tenant', async () => {
  expect(await forward('owner', 'GET', { 'x-agent-forwarded': details })).toMatchObject({ status: 401 })
})

test('the listener speaks neither plain HTTP nor TLS without the key of the nodes', async () => {
  const headers = { apikey: tenant.apiKey, 'x-agent-forwarded': details }
  const at = { ...(await listenerOf('owner')), path: '/connections', headers }
  await expect(once(requestHttp(at).end(), 'response')).rejects.toThrow()
  const agent = new Agent({ rejectUnauthorized: false })
  await expect(once(request({ ...at, agent }).end(), 'response')).rejects.toThrow()
  agent.destroy()
})

test('a limit for each address counts the clients of all nodes by their own addresses', async () => {
  const { invitation } = await tenant.call('POST /connections', { body: {} })
  const { pathname, search } = new URL(invitation.shortUrl!)
  const statuses = async (node: Daemon, address: string, count: number) => {
    const all: number[] = []
    for (let each = 0; each < count; each++) {
      // A client can forge all but the last address, which its proxy adds, and the header between nodes.
      const headers = {
        'x-forwarded-for': `198.51.100.${each}, ${address}`,
        'x-agent-forwarded': JSON.stringify({ to: 'rest', address: `198.51.100.${each}` }),
      }
      all.push((await ask(node, `GET ${pathname}${search}`, { headers })).status)
    }
    return all
  }
  expect(await statuses(other, '203.0.113.1', 3)).toEqual([200, 200, 429])
  // The owner has counted the requests that the other node has sent on.
  expect(await statuses(owner, '203.0.113.1', 1)).toEqual([429])
  expect(await statuses(other, '203.0.113.2', 1)).toEqual([200])
  expect(await statuses(owner, '203.0.113.2', 2)).toEqual([200, 429])
})

test('the audit log has the client’s own address and request id, whatever else the client sends', async () => {
  const body = { documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'authentication' }] } }
  for (const [index, node] of [other, owner].entries()) {
    const headers = {
      'x-forwarded-for': '198.51.100.1, 203.0.113.5',
      'x-agent-forwarded': JSON.stringify({ to: 'rest', address: '198.51.100.2' }),
      'x-request-id': `forged-headers-${index}`,
    }
    const made = await ask(node, 'POST /did-registrar/dids', { apiKey: tenant.apiKey, body, headers })
    expect(made.status).toBe(201)
    expect(made.headers.get('x-request-id')).toBe(`forged-headers-${index}`)
  }
  const entries = await nodes.read(
    `select address, request_id from entry where request_id like 'forged-headers-%' order by sequence`,
  )
  expect(entries).toEqual([
    { address: '203.0.113.5', request_id: 'forged-headers-0' },
    { address: '203.0.113.5', request_id: 'forged-headers-1' },
  ])
})
