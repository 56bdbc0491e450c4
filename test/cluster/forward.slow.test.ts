/** Three nodes over one database: any of them answers any request. */
import { once } from 'node:events'
import { request, type Agent } from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPeerAgent } from '../../daemon/nodes/connection.ts'
import { createClient } from '../../daemon/client/client.ts'
import { follow } from '../support/events.ts'
import { adminOf } from '../support/api.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import { connect, credentialIn, issue, newDid, until } from '../support/tenants.ts'
import { startNodes, type Nodes } from './_nodes.ts'

needsPostgres()

let nodes: Nodes
beforeAll(async () => void (nodes = await startNodes(['a', 'b', 'c'])))
afterAll(() => nodes[Symbol.asyncDispose]())

test('each request of a tenant is answered by every node', async () => {
  for (let count = 0; count < 6; count++) {
    const { apiKey } = await nodes.newTenant(`tenant ${count}`)
    const ids: string[] = []
    const calls = nodes.daemons.map(({ url }) => createClient(url, { apikey: apiKey }))
    for (const call of calls)
      ids.push((await call('POST /connections', { body: { label: 'label' } })).connectionId)
    for (const call of calls) {
      const { contents } = await call('GET /connections')
      expect(contents.map(({ connectionId }) => connectionId)).toEqual(ids)
    }
  }
})

test('tenants of different nodes connect, issue and receive through all nodes', async () => {
  const pairs = await Promise.all(
    Array.from({ length: 4 }, () => Promise.all([nodes.newTenant('issuer'), nodes.newTenant('holder')])),
  )
  for (const [issuer, holder] of pairs) {
    const { inviterConnectionId } = await connect(issuer, holder)
    const { did } = await newDid(issuer, 'assertionMethod')
    const subject = await newDid(holder, 'authentication')
    const { thid } = await issue(issuer, holder, inviterConnectionId, did, subject.longFormDid)
    await credentialIn(holder.call, thid, 'CredentialReceived')
  }
})

test('an event stream at another node has every event, in order', async () => {
  const tenant = await nodes.newTenant('listener')
  for (const { url } of nodes.daemons) {
    const stream = await follow(url, { apikey: tenant.apiKey })
    const { connectionId } = await tenant.call('POST /connections', { body: { label: 'label' } })
    const [event] = await stream.take(1)
    expect(event!.data).toMatchObject({ connectionId })
    stream.close()
  }
})

test('the administrator names a wallet of another node', async () => {
  const { walletId } = await nodes.newTenant('other')
  for (const { url } of nodes.daemons) {
    const events = await adminOf(url)('GET /events', { query: { walletId } })
    expect(events.contents).toEqual([])
  }
})

test('the audit log has the address of the client and the request id, once', async () => {
  const tenant = await nodes.newTenant('audited')
  const body = { documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'authentication' }] } }
  for (const { url } of nodes.daemons)
    await fetch(`${url}/did-registrar/dids`, {
      method: 'POST',
      headers: {
        apikey: tenant.apiKey,
        'content-type': 'application/json',
        'x-request-id': `request-${new URL(url).port}`,
      },
      body: JSON.stringify(body),
    })
  const entries = await nodes.read<{ address: string; request_id: string; outcome: string }>(
    `select address, request_id, outcome from entry where wallet_id = '${tenant.walletId}' and action like '%/did-registrar/%' order by sequence`,
  )
  expect(entries).toEqual(
    nodes.daemons.map(({ url }) => ({
      address: '127.0.0.1',
      request_id: `request-${new URL(url).port}`,
      outcome: 'succeeded',
    })),
  )
})

test('a body that is larger than what is kept is streamed', async () => {
  const tenant = await nodes.newTenant('large')
  for (const { url } of nodes.daemons) {
    const response = await fetch(`${url}/connections`, {
      method: 'POST',
      headers: { apikey: tenant.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ label: 'x'.repeat(2_000_000) }),
    })
    expect(response.status).toBe(413)
  }
})

/** The status of a request to the listener of a node. */
async function ask(agent: Agent, headers: Record<string, string>): Promise<number> {
  const [{ address }] = (await nodes.read<{ address: string }>(
    `select address from node where name = 'b'`,
  )) as [{ address: string }]
  const [host, port] = address.split(':')
  const sent = request({ agent, host, port, path: '/connections', headers })
  sent.end()
  const [response] = await once(sent, 'response')
  response.resume()
  return response.statusCode as number
}

test('the listener of a node answers nobody without the key of the nodes', async () => {
  const { apiKey } = await nodes.newTenant('curious')
  const headers = { apikey: apiKey, 'x-agent-forwarded': JSON.stringify({ to: 'rest', address: '10.0.0.1' }) }
  for (const key of [
    new Uint8Array(32),
    Buffer.from(apiKey),
    Buffer.from(process.env['ADMIN_TOKEN'] ?? 'the-administrator-of-the-tests'),
  ]) {
    const agent = createPeerAgent(key)
    await expect(ask(agent, headers)).rejects.toThrow()
    agent.destroy()
  }
})

test('a client cannot claim to be a node', async () => {
  const tenant = await nodes.newTenant('claimant')
  for (const { url } of nodes.daemons) {
    const response = await fetch(`${url}/connections`, {
      headers: {
        apikey: tenant.apiKey,
        'x-agent-forwarded': JSON.stringify({ to: 'rest', address: '10.0.0.1' }),
      },
    })
    expect(response.status).toBe(200)
  }
})

test('when a node is killed, requests for its wallets wait for the take-over', async () => {
  const tenants = await Promise.all(Array.from({ length: 8 }, () => nodes.newTenant('survivor')))
  const [first, , killed] = nodes.daemons
  await killed!.stop('SIGKILL')
  const answers = await Promise.all(
    tenants.map(({ apiKey }) => createClient(first!.url, { apikey: apiKey })('GET /connections')),
  )
  expect(answers.map(({ contents }) => contents)).toEqual(tenants.map(() => []))
  await killed!.start()
  await until(
    'three nodes',
    () => nodes.read(`select 1 from node where expires_at > now()`),
    (rows) => rows.length === 3,
  )
})

test('a key that is revoked at one node is refused at all of them, as soon as the answer is there', async () => {
  for (const revoking of nodes.daemons) {
    const { entityId, apiKey } = await nodes.newTenant('revoked')
    const statuses = () =>
      Promise.all(
        nodes.daemons.map(
          async ({ url }) => (await fetch(`${url}/connections`, { headers: { apikey: apiKey } })).status,
        ),
      )
    expect(await statuses()).toEqual([200, 200, 200])
    await adminOf(revoking.url)('DELETE /iam/apikey-authentication', { body: { entityId, apiKey } })
    await until('refused everywhere', statuses, (all) => all.every((status) => status === 401))
  }
})

test('an unknown key makes one wallet, whatever nodes get it at the same time', async () => {
  await using provisioning = await startNodes(['a', 'b'], { API_KEY_AUTO_PROVISIONING: 'true' })
  const apikey = 'an-unknown-key-of-some-tenant'
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      fetch(`${provisioning.daemons[index % 2]!.url}/connections`, { headers: { apikey } }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(await provisioning.read('select id from wallet')).toHaveLength(2)
})
