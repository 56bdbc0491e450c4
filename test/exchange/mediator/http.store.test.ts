/** The mediator on the DIDComm port of an agent: HTTP responses, and its pages. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLog } from '../../../src/foundation/log.ts'
import { parseInvitation } from '../../../src/exchange/didcomm/invitation.ts'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { testOnSqlite } from '../../support/on-sqlite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  type TestWallet,
  deliveredIn,
  forwardOf,
  forwardType,
  mediateRequest,
  mediation2,
  newWallet,
  packFor,
  pickup,
  problemReport,
  trustPing,
} from './_mediator.ts'

const encrypted = 'application/didcomm-encrypted+json'

const startMediatingAgent = (variables: Record<string, string> = {}, options = {}) =>
  startAgent({ AGENT_MEDIATOR: 'true', ...variables }, options)

async function post(url: string, body: string) {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': encrypted }, body })
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() }
}

async function ask(
  { didcommUrl, agent }: TestAgent,
  wallet: TestWallet,
  type: string,
  body: Record<string, unknown> = {},
) {
  const answer = await post(didcommUrl, wallet.pack(agent.mediator!.did, { type, body }))
  expect(answer).toMatchObject({ status: 200, type: encrypted })
  return (await wallet.open(answer.body)).message
}

test('over HTTP, a wallet enrols, receives messages from any sender, and picks them up', async () => {
  await using host = await startMediatingAgent()
  const [wallet, alias] = [newWallet(), newWallet(host.agent.mediator!.did)]
  expect((await ask(host, wallet, mediateRequest)).body).toEqual({
    routing_did: host.agent.mediator!.did,
  })
  // The stock wallet does not request this reply: it gets 202 with an empty body.
  const update = { updates: [{ recipient_did: alias.did, action: 'add' }] }
  const quiet = wallet.pack(host.agent.mediator!.did, {
    type: `${mediation2}/keylist-update`,
    body: update,
    return_route: undefined,
  })
  expect(await post(host.didcommUrl, quiet)).toMatchObject({ status: 202, body: '' })
  const packed = packFor(alias.did, { type: 'x:y', body: { content: 'hello' } })
  expect(
    await post(host.didcommUrl, packFor(host.agent.mediator!.did, forwardOf(alias.did, packed))),
  ).toMatchObject({
    status: 202,
    body: '',
  })
  const [message] = deliveredIn(await ask(host, wallet, `${pickup}/delivery-request`, { limit: 10 }))
  expect((await alias.open(message!.packed)).message.body).toEqual({ content: 'hello' })
  const status = await ask(host, wallet, `${pickup}/messages-received`, { message_id_list: [message!.id] })
  expect(status).toMatchObject({ type: `${pickup}/status`, body: { message_count: 0 } })
})

testOnSqlite('live delivery cannot be switched on over HTTP, but can be switched off', async () => {
  await using host = await startMediatingAgent()
  const wallet = newWallet()
  await ask(host, wallet, mediateRequest)
  const report = await ask(host, wallet, `${pickup}/live-delivery-change`, { live_delivery: true })
  expect(report).toMatchObject({ type: problemReport, body: { code: 'e.m.live-mode-not-supported' } })
  const status = await ask(host, wallet, `${pickup}/live-delivery-change`, { live_delivery: 'false' })
  expect(status).toMatchObject({ type: `${pickup}/status`, body: { live_delivery: false } })
})

testOnSqlite('a message for a full queue logs one warning without a stack', async () => {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  })
  await using host = await startMediatingAgent({ MEDIATOR_QUEUE_LIMIT: '1' }, { log })
  const [wallet, { did }] = [newWallet(), host.agent.mediator!]
  await ask(host, wallet, mediateRequest)
  const send = () =>
    post(host.didcommUrl, packFor(did, forwardOf(wallet.did, packFor(wallet.did, { type: 'x:y' }))))
  expect((await send()).status).toBe(202)
  lines.length = 0
  expect((await send()).status).toBe(507)
  expect(lines).toEqual([
    expect.objectContaining({
      level: 40,
      status: 507,
      type: 'error:MediatorError:QueueFull',
      reason: expect.any(String),
    }),
  ])
  expect(JSON.stringify(lines)).not.toContain('stack')
})

test('anonymous senders get a status: 422 for an unknown recipient, 507 for a full queue, 409 for a repeated envelope', async () => {
  await using host = await startMediatingAgent({ MEDIATOR_QUEUE_LIMIT: '1' })
  const [wallet, unknownDid, { did }] = [newWallet(), newWallet().did, host.agent.mediator!]
  await ask(host, wallet, mediateRequest)
  const forward = (next: string) => packFor(did, forwardOf(next, packFor(next, { type: 'x:y' })))
  const unknown = await post(host.didcommUrl, forward(unknownDid))
  expect(unknown.status).toBe(422)
  expect(JSON.parse(unknown.body)).toMatchObject({ type: 'error:MediatorError:NotEnrolled' })
  const accepted = forward(wallet.did)
  expect((await post(host.didcommUrl, accepted)).status).toBe(202)
  expect((await post(host.didcommUrl, accepted)).status).toBe(409)
  expect((await post(host.didcommUrl, forward(wallet.did))).status).toBe(507)
  const ping = packFor(did, { type: trustPing })
  expect((await post(host.didcommUrl, ping)).status).toBe(422)
})

testOnSqlite(
  'an address that sends too many messages gets 429 with Retry-After; behind a trusted proxy, each client address has its own count',
  async () => {
    await using host = await startMediatingAgent({
      MEDIATOR_MESSAGES_PER_MINUTE: '1',
      MEDIATOR_TRUST_PROXY: 'true',
    })
    const { did } = host.agent.mediator!
    const ping = (forwarded: string) =>
      fetch(host.didcommUrl, {
        method: 'POST',
        headers: { 'content-type': encrypted, 'x-forwarded-for': forwarded },
        body: newWallet().pack(did, { type: trustPing }),
      })
    expect((await ping('192.0.2.1')).status).toBe(200)
    const refused = await ping('192.0.2.2, 192.0.2.1')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/)
    expect(await refused.json()).toMatchObject({ status: 429, type: 'error:MediatorError:TooManyRequests' })
    expect((await ping('192.0.2.2')).status).toBe(200)
  },
)

testOnSqlite('a client cannot choose its address unless a proxy is trusted', async () => {
  await using host = await startMediatingAgent({ MEDIATOR_ENROLMENTS_PER_HOUR: '1' })
  const { did } = host.agent.mediator!
  const enrol = async (forwarded: string) => {
    const body = newWallet().pack(did, { type: mediateRequest })
    const headers = { 'content-type': encrypted, 'x-forwarded-for': forwarded }
    const response = await fetch(host.didcommUrl, { method: 'POST', headers, body })
    return [response.status, response.headers.has('retry-after')]
  }
  expect(await enrol('192.0.2.1')).toEqual([200, false])
  expect(await enrol('192.0.2.2')).toEqual([429, true])
  const { invitation } = await host.tenant('POST /connections', { body: {} })
  const other = newWallet().pack(invitation.from, {
    type: 'https://example.com/unknown',
    return_route: undefined,
  })
  expect((await post(host.didcommUrl, other)).status).toBe(422)
})

testOnSqlite('changed envelopes and invalid bodies are refused, as in the agent role', async () => {
  await using host = await startMediatingAgent()
  const wallet = newWallet()
  const packed = JSON.parse(wallet.pack(host.agent.mediator!.did, { type: mediateRequest }))
  const flipped = (packed.ciphertext as string).startsWith('A') ? 'B' : 'A'
  const tampered = { ...packed, ciphertext: flipped + packed.ciphertext.slice(1) }
  for (const body of [JSON.stringify(tampered), JSON.stringify({ ...packed, tag: undefined }), '{}', '']) {
    expect((await post(host.didcommUrl, body)).status).toBe(422)
  }
  expect((await fetch(host.didcommUrl, { method: 'POST', body: JSON.stringify(packed) })).status).toBe(400)
  expect((await ask(host, wallet, `${pickup}/status-request`)).body).toMatchObject({
    code: 'e.p.req.not_enroll',
  })
})

testOnSqlite('a reply without return_route is posted to the wallet’s inbox', async () => {
  await using host = await startMediatingAgent()
  await using other = await startMediatingAgent()
  // The inbox of this wallet is another agent, which does not know the wallet. That it refuses the reply does
  // not matter.
  const wallet = newWallet(other.didcommUrl)
  const later = wallet.pack(host.agent.mediator!.did, {
    type: mediateRequest,
    return_route: undefined,
  })
  expect(await post(host.didcommUrl, later)).toMatchObject({ status: 202, body: '' })
  expect((await ask(host, wallet, `${pickup}/status-request`)).body).toMatchObject({ message_count: 0 })
})

testOnSqlite('the pages show the DID and an invitation that every wallet can read', async () => {
  await using host = await startMediatingAgent()
  const { did } = host.agent.mediator!
  const page = async (path: string) => {
    const response = await fetch(host.didcommUrl + path)
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    return response.text()
  }
  expect(await page('/did')).toBe(did)
  const url = await page('/invitationOOB')
  expect(url.startsWith(`${host.didcommUrl}?_oob=`)).toBe(true)
  expect(url.split('_oob=')[1]).toMatch(/^[A-Za-z0-9]+=*$/)
  const expected = {
    from: did,
    body: { goal_code: 'request-mediate', goal: 'RequestMediate', accept: ['didcomm/v2'] },
  }
  expect(parseInvitation(url).invitation).toMatchObject({
    type: 'https://didcomm.org/out-of-band/2.0/invitation',
    ...expected,
  })
  expect(JSON.parse(await page('/invitation'))).toMatchObject(expected)
})

testOnSqlite('browsers may post from any origin', async () => {
  await using host = await startMediatingAgent()
  const response = await fetch(host.didcommUrl, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://wallet.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  })
  expect(response.status).toBe(204)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.get('access-control-allow-headers')).toBe('Content-Type')
})

test('without the mediator role there is no DID, page or file of a mediator', async () => {
  const host = await sharedAgent()
  expect(host.agent.mediator).toBeUndefined()
  for (const path of ['/did', '/invitation', '/invitationOOB', '/ws'])
    expect((await fetch(host.didcommUrl + path)).status, path).toBe(404)
  expect(
    (await fetch(host.didcommUrl, { method: 'OPTIONS' })).headers.get('access-control-allow-origin'),
  ).toBeNull()
  expect(existsSync(join(host.dataDir, 'mediator.db'))).toBe(false)
})

test('the agent’s own wallets remain reachable, and a restarted agent keeps its mediator DID', async () => {
  await using folder = await temporaryFolder()
  // The public address stays the same, although the port changes.
  const variables = { DIDCOMM_SERVICE_URL: 'http://mediator.example' }
  const wallet = newWallet()
  let did: string
  {
    await using host = await startMediatingAgent(variables, { dataDir: folder.path })
    did = host.agent.mediator!.did
    await ask(host, wallet, mediateRequest)
    const packed = packFor(wallet.did, { type: 'x:y', body: { content: 'before' } })
    expect((await post(host.didcommUrl, packFor(did, forwardOf(wallet.did, packed)))).status).toBe(202)
    const { invitation } = await host.tenant('POST /connections', { body: {} })
    const request = { id: randomUUID(), type: 'https://example.com/unknown', return_route: undefined }
    expect((await post(host.didcommUrl, wallet.pack(invitation.from, request))).status).toBe(422)
  }
  await using host = await startMediatingAgent(variables, { dataDir: folder.path })
  expect(host.agent.mediator!.did).toBe(did)
  const [message] = deliveredIn(await ask(host, wallet, `${pickup}/delivery-request`, { limit: 10 }))
  expect((await wallet.open(message!.packed)).message.body).toEqual({ content: 'before' })
})

testOnSqlite('an authenticated forward gets a problem report in the HTTP response', async () => {
  await using host = await startMediatingAgent()
  const [wallet, unknownDid] = [newWallet(), newWallet().did]
  const { body, attachments } = forwardOf(unknownDid, packFor(unknownDid, { type: 'x:y' }))
  const answer = await post(
    host.didcommUrl,
    wallet.pack(host.agent.mediator!.did, { type: forwardType, body, attachments }),
  )
  expect((await wallet.open(answer.body)).message).toMatchObject({
    type: problemReport,
    body: { code: 'e.p.req.not_enroll', args: [unknownDid] },
  })
})
