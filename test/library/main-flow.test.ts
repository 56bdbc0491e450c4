/** Two agents in this process, and their clients: the main flow, and the ends that a wait can have. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningAgent } from '../../library/in-process/index.ts'
import { connect, issue, offer, request } from './_flow.ts'
import { client, failureOf, library } from './_library.ts'

const { createClient, events, firstEvent, waitFor } = client

let acme: RunningAgent
let alice: RunningAgent
beforeAll(async () => {
  acme = await library.createAgent()
  alice = await library.createAgent({ settings: { VDR_URL: acme.url } })
})
afterAll(async () => {
  await alice.close()
  await acme.close()
})

test('two agents connect, issue a credential and prove it', async () => {
  const [mine, yours] = await connect(acme.client, alice.client)
  expect([mine.role, mine.state, yours.role, yours.state]).toEqual([
    'Inviter',
    'ConnectionResponseSent',
    'Invitee',
    'ConnectionResponseReceived',
  ])
  const [sent, received] = await issue(acme.client, alice.client, mine.connectionId)
  expect([sent.protocolState, received.protocolState]).toEqual(['CredentialSent', 'CredentialReceived'])
  expect(received.credential).toMatch(/^ZXl/)

  const [asked, { presentationId }] = await request(acme.client, alice.client, mine.connectionId)
  await alice.client('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'request-accept', proofId: [received.recordId] },
  })
  const outcomes = ['PresentationVerified', 'PresentationVerificationFailed'] as const
  const verified = await waitFor(acme.client, asked, outcomes)
  expect(verified.status).toBe('PresentationVerified')

  // States that the records have left since are found in the log, and the record is that of then.
  const past = await waitFor(acme.client, sent, 'RequestReceived')
  expect([past.recordId, past.protocolState]).toEqual([sent.recordId, 'RequestReceived'])

  // The data of every event has the shape of its record.
  const seen = new Set<string>()
  for await (const event of events(acme.client, { after: firstEvent })) {
    seen.add(event.type)
    if (event.type === 'PresentationUpdated' && event.data.status === 'PresentationVerified') break
  }
  expect([...seen].toSorted()).toEqual([
    'ConnectionUpdated',
    'DIDStatusUpdated',
    'IssueCredentialRecordUpdated',
    'PresentationUpdated',
  ])
})

test('a record that ends in another way fails the wait, with the reason', async () => {
  const [{ connectionId }] = await connect(acme.client, alice.client)
  const [offered, { recordId }] = await offer(acme.client, alice.client, connectionId)
  const waiting = failureOf(waitFor(acme.client, offered, ['CredentialSent', 'RequestReceived']))
  await alice.client('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
  const error = await waiting
  expect(error).toBeInstanceOf(client.StateError)
  expect(error).toMatchObject({
    state: 'ProblemReportReceived',
    wanted: ['CredentialSent', 'RequestReceived'],
  })
  expect(error.message).toContain(
    `The credential ${offered.recordId} is in ProblemReportReceived (the other side reports a problem) and can no longer reach CredentialSent or RequestReceived: `,
  )
  // Claims of the record do not get into logs.
  expect([error.record.recordId, Object.keys(error)]).toEqual([offered.recordId, ['name', 'state', 'wanted']])
  const over = await failureOf(waitFor(alice.client, { recordId }, 'CredentialReceived'))
  expect(over).toMatchObject({ name: 'StateError', state: expect.stringContaining('ProblemReport') })
})

test('a wait ends with its signal and with its time', async () => {
  const [{ connectionId }] = await connect(acme.client, alice.client)
  const [asked] = await request(acme.client, alice.client, connectionId)
  await waitFor(acme.client, asked, 'RequestSent')
  const ending = new AbortController()
  const ended = failureOf(waitFor(acme.client, asked, 'PresentationVerified', { signal: ending.signal }))
  ending.abort(new Error('enough'))
  expect((await ended).message).toBe('enough')
  const late = await failureOf(waitFor(acme.client, asked, 'PresentationVerified', { timeoutMs: 300 }))
  expect(late).toMatchObject({
    name: 'TimedOutError',
    timeoutMs: 300,
    message: `The proof ${asked.presentationId} is in RequestSent (waiting for the prover to present) after 0.3 s, and not PresentationVerified.`,
  })
})

test('a side of a thread without a record can be waited for, and times out', async () => {
  const thid = crypto.randomUUID()
  const wait = waitFor(acme.client, { type: 'PresentationUpdated', thid }, 'RequestReceived', {
    timeoutMs: 200,
  })
  expect(await failureOf(wait)).toMatchObject({
    name: 'TimedOutError',
    message: `The thread ${thid} has no proof record after 0.2 s, and not RequestReceived.`,
  })
})

test('wrong calls fail at once, with one sentence', async () => {
  const connectionId = crypto.randomUUID()
  const reasons = [
    failureOf(waitFor(acme.client, { connectionId }, 'ConnectionResponseSent')),
    failureOf(waitFor(acme.client, { connectionId }, 'Connected' as 'ConnectionResponseSent')),
    failureOf(waitFor(acme.client, {} as { connectionId: string }, 'ConnectionResponseSent')),
    failureOf(waitFor(acme.client, { connectionId }, 'ConnectionResponseSent', { timeoutMs: 0 })),
    failureOf(createClient(acme.url, { apiKey: 'wrong' })('GET /connections')),
    failureOf(createClient(acme.url)('GET /connections')),
    failureOf(events(createClient(acme.url, { apiKey: 'wrong' })).next()),
    failureOf(events(acme.client, { after: crypto.randomUUID() }).open()),
    failureOf(acme.client('GET /connections', { signal: AbortSignal.abort() })),
  ]
  const errors = (await Promise.all(reasons)).map(({ name, problem, message }) =>
    [name, problem?.status, message.slice(0, 60)].filter((part) => part !== undefined).join(' | '),
  )
  expect(errors).toEqual([
    'ProblemError | 404 | The requested record id does not exist: ' + connectionId.slice(0, 20),
    'TypeError | state: "Connected" is not a state of a connection; the state',
    'TypeError | which: it names no record; give a record, one of connectionI',
    'TypeError | timeoutMs: it must be a number of milliseconds from 1 to 214',
    'ProblemError | 401 | Invalid API key',
    'ProblemError | 401 | ApiKey key is not provided. Send it in the header `apikey`.',
    'ProblemError | 401 | Invalid API key',
    expect.stringMatching(/^ProblemError \| 400 \| after: there is no event/),
    'AbortError | This operation was aborted',
  ])
})

test.each([
  ['agent', 'url: it is not a URL'],
  ['ftp://127.0.0.1', 'url: it begins with ftp:'],
  ['http://me:secret@127.0.0.1', 'url: it has more than a host and a path'],
  ['http://127.0.0.1/?x=1', 'url: it has more than a host and a path'],
])('createClient refuses the URL %s', (url, reason) => {
  expect(() => createClient(url)).toThrow(reason)
})

test('createClient refuses keys that no header can contain, without showing them', () => {
  for (const apiKey of ['', 'a\nb-secret', 'schlüssel-secret'])
    expect(() => createClient(acme.url, { apiKey })).toThrow(
      /^apiKey: it is empty, or has characters that a header cannot contain\.$/,
    )
})

test('a server that is not an agent, and none at all', async () => {
  const answers = [
    [200, 'text/html', '<h1>Hello</h1>'],
    [404, 'text/html', '<h1>Not found</h1>'],
    [200, 'application/json', '{"hello":"world"}'],
    [302, 'text/plain', ''],
    [200, 'text/event-stream', 'data: not JSON\n\n'],
  ] as const
  let at = 0
  const server = createServer((_request, response) => {
    const [status, type, body] = answers[at]!
    response.writeHead(status, { 'content-type': type, location: 'http://127.0.0.1:1/' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const wrong = createClient(url, { apiKey: 'a-key-that-stays' })
  const failures = []
  for (const [index] of answers.entries()) {
    at = index
    const { name, message } = await failureOf(
      index < 2 || index === 3 ? wrong('GET /connections') : events(wrong).next(),
    )
    failures.push(`${name}: ${message}`)
  }
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
  failures.push(String(await failureOf(createClient('http://127.0.0.1:1')('GET /connections'))))
  failures.push(String(await failureOf(events(wrong).open())))
  expect(failures).toEqual([
    `UnexpectedAnswerError: The server at ${url} does not answer as an agent: it sends text/html with status 200.`,
    `UnexpectedAnswerError: The server at ${url} does not answer as an agent: it sends text/html with status 404.`,
    `UnexpectedAnswerError: The server at ${url} does not answer as an agent: it sends JSON instead of events with status 200.`,
    `UnreachableError: No agent answers at ${url}: unexpected redirect.`,
    `UnexpectedAnswerError: The server at ${url} does not answer as an agent: it sends an event that is not JSON with status 200.`,
    'UnreachableError: No agent answers at http://127.0.0.1:1: bad port.',
    // The reason depends on whether the platform has noticed that its connection is closed.
    expect.stringMatching(`^UnreachableError: No agent answers at ${url}: .`),
  ])
})

test('a call that takes too long', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const error = await failureOf(createClient(url, { timeoutMs: 50 })('GET /connections'))
  expect(error).toBeInstanceOf(client.TimedOutError)
  expect(error.message).toBe(`The agent at ${url} has not answered GET /connections within 0.05 s.`)
  server.closeAllConnections()
  server.close()
})
