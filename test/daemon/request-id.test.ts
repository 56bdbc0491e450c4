/** The request id is logged with the request and the sent message, and by the receiver. */
import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { route } from '../../daemon/http/route.ts'
import { createLog } from '../../src/foundation/log.ts'
import { startAgent } from '../support/agent.ts'
import { built } from '../support/built.ts'
import { connectionIn, oobOf, until, type Tenant } from '../support/tenants.ts'
import { untilEnd } from '../support/shared.ts'

type Line = {
  msg: string
  level: number
  requestId?: string
  route?: string
  thid?: string
  thids?: string[]
  [name: string]: unknown
}
const lines: Line[] = []
const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line) as Line) })
const bug = route(
  'GET /bug',
  { summary: '', operationId: '', access: 'public', query: z.object({}), reply: [200, null] },
  (_, input) => {
    input.log.info('a line of the handler')
    return Promise.reject(new Error('a bug'))
  },
)

const agent = await untilEnd(
  startAgent({ FAILED_ATTEMPTS_PER_MINUTE: '1' }, { log, routes: [...built.routes, bug] }),
)
const [alice, bob] = [await agent.newTenant('alice'), await agent.newTenant('bob')]
beforeEach(() => void (lines.length = 0))

const post = (path: string, { apiKey }: Tenant, requestId: string, body: object) =>
  agent.send('POST', path, {
    headers: { apikey: apiKey, 'x-request-id': requestId },
    body: JSON.stringify(body),
  })

test('one id connects the request, the sent message and the receiver’s log', async () => {
  const made = await alice.call('POST /connections', { body: {} })
  const answer = await post('/connection-invitations', bob, 'my-request-1', { invitation: oobOf(made) })
  expect(answer.headers.get('x-request-id')).toBe('my-request-1')
  await connectionIn(bob.call, made.thid, 'ConnectionResponseReceived')

  const own = lines.filter(({ requestId }) => requestId === 'my-request-1')
  expect(own).toMatchObject([
    {
      msg: 'request',
      route: 'POST /connection-invitations',
      status: 200,
      walletId: bob.walletId,
      thids: [made.thid],
    },
  ])
  const ofThread = await until(
    'both messages on their ways',
    () =>
      Promise.resolve(lines.filter(({ thid, thids }) => thid === made.thid || thids?.includes(made.thid))),
    (found) => found.filter(({ msg }) => msg === 'a message was sent').length === 2,
  )
  const sent = ofThread.filter(({ msg }) => msg === 'a message was sent')
  expect(new Set(sent.map(({ walletId }) => walletId))).toEqual(new Set([alice.walletId, bob.walletId]))
  expect(sent[0]).toMatchObject({
    messageId: expect.any(String),
    recordId: expect.any(String),
    type: expect.stringContaining('connections'),
  })
  const received = ofThread.filter(({ route }) => route === 'POST /{mailbox}')
  expect(received.map(({ walletId, status }) => [walletId, status])).toEqual([
    [alice.walletId, 200],
    [bob.walletId, 200],
  ])
  // An incoming message gets a new request id.
  expect(new Set([...own, ...received].map(({ requestId }) => requestId)).size).toBe(3)
})

test('the log of a message without a record has the thread id too', async () => {
  const [{ connectionId } = { connectionId: '' }] = (await alice.call('GET /connections')).contents
  await post('/didcomm/pings', alice, 'my-request-2', { connectionId })
  const [thid] = lines.find(({ requestId }) => requestId === 'my-request-2')!.thids!
  await until(
    'the ping at the other side',
    () => Promise.resolve(lines),
    (all) =>
      all.some(
        ({ route, thids, walletId }) =>
          route === 'POST /{mailbox}' && thids?.includes(thid!) && walletId === bob.walletId,
      ),
  )
})

test('every log line of a request has its id: failures, warnings and lines of its handler', async () => {
  const answer = await agent.send('GET', '/bug', { headers: { 'x-request-id': 'my-request-3' } })
  expect(answer.status).toBe(500)
  for (let n = 0; n < 2; n++)
    await agent.send('GET', '/connections', { headers: { apikey: 'wrong', 'x-request-id': 'my-request-4' } })
  await agent.send('GET', '/nowhere', { headers: { 'x-request-id': 'my-request-5' } })
  const named = lines.filter(({ requestId }) => requestId?.startsWith('my-'))
  expect(named.map(({ requestId, msg }) => [requestId, msg])).toEqual([
    ['my-request-3', 'a line of the handler'],
    ['my-request-3', 'a request failed'],
    ['my-request-3', 'request'],
    ['my-request-4', 'request'],
    ['my-request-4', expect.stringContaining('too many keys')],
    ['my-request-4', 'request'],
    ['my-request-5', 'request'],
  ])
})

test('a DIDComm message that is refused names the delivery, and why', async () => {
  const response = await fetch(`${agent.didcommUrl}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/didcomm-encrypted+json', 'x-request-id': 'my-delivery' },
    body: '{}',
  })
  expect([response.status, response.headers.get('x-request-id')]).toEqual([422, 'my-delivery'])
  expect(lines.filter(({ requestId }) => requestId === 'my-delivery').map(({ msg }) => msg)).toEqual([
    'a DIDComm message was refused',
    'request',
  ])
})
