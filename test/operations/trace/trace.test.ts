/** `GET /traces/{id}`: the steps of a thread, and the pending actions. */
import { expect, test } from 'vitest'
import { randomUUID } from 'node:crypto'
import type { Step } from '../../../src/operations/trace/model.ts'
import { openParty } from '../../support/party.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  refusal,
  startPair,
  until,
  type Tenant,
} from '../../support/tenants.ts'
import { openReceiver } from '../../support/receiver.ts'
import { rewriteRows } from '../../support/rewrite-rows.ts'

const trace = ({ call }: Tenant, id: string) => call('GET /traces/{id}', { path: { id } })

/** Formats a step as a short string. */
function words(step: Step): string {
  if (step.kind === 'state') return `${step.topic} ${step.from ?? ''}→${step.to}`
  if (step.kind === 'delivery') return `webhook ${step.attempt} ${step.status} ${step.outcome}`
  return `${step.direction} ${step.type.split('/').at(-1)} ${step.outcome}`
}

async function startIssued() {
  const pair = await startPair()
  const { issuer, holder } = pair
  const { thid: connectionThid, inviterConnectionId } = await connect(issuer, holder)
  const issuing = await newDid(issuer, 'assertionMethod')
  const subject = await newDid(holder, 'authentication', 'Ed25519')
  const issued = await issue(issuer, holder, inviterConnectionId, issuing.did, subject.longFormDid)
  await credentialIn(issuer.call, issued.thid, 'CredentialSent')
  return { ...pair, ...issued, connectionThid, inviterConnectionId, issuing, subject }
}

test('both sides have each message and each state once, in order', async () => {
  await using scene = await startIssued()
  const { issuer, holder, thid, connectionThid } = scene
  const [issuerTrace, holderTrace] = [await trace(issuer, thid), await trace(holder, thid)]
  expect(issuerTrace.steps.map(words)).toEqual([
    'credential →OfferPending',
    'sent offer-credential taken',
    'credential OfferPending→OfferSent',
    'received request-credential taken',
    'credential OfferSent→RequestReceived',
    'credential RequestReceived→CredentialPending',
    'credential CredentialPending→CredentialGenerated',
    'sent issue-credential taken',
    'credential CredentialGenerated→CredentialSent',
  ])
  expect(holderTrace.steps.map(words)).toEqual([
    'received offer-credential taken',
    'credential →OfferReceived',
    'credential OfferReceived→RequestPending',
    'sent request-credential taken',
    'credential RequestPending→RequestSent',
    'received issue-credential taken',
    'credential RequestSent→CredentialReceived',
  ])
  const messages = (steps: Step[]) => steps.filter((step) => step.kind === 'message')
  // Both sides list the same messages between the same DIDs.
  expect(messages(issuerTrace.steps).map(({ id, from, to }) => [id, from, to])).toEqual(
    messages(holderTrace.steps).map(({ id, from, to }) => [id, from, to]),
  )
  for (const step of messages(issuerTrace.steps).filter(({ direction }) => direction === 'sent'))
    expect(step).toMatchObject({
      attempts: 1,
      durationMs: expect.any(Number),
      from: expect.stringMatching(/^did:peer:2\.E/),
    })
  for (const { steps, startedAt, pending, isCut } of [issuerTrace, holderTrace]) {
    expect({ startedAt, pending, isCut }).toEqual({ startedAt: steps[0]!.at, pending: [], isCut: false })
    expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).toSorted())
  }
  expect(issuerTrace.records).toEqual([
    { topic: 'credential', id: scene.issuerRecordId, role: 'Issuer', state: 'CredentialSent' },
  ])

  const connection = await trace(holder, connectionThid)
  expect(connection.steps.map(words)).toEqual([
    'connection →InvitationReceived',
    'connection InvitationReceived→ConnectionRequestPending',
    'sent request taken',
    'connection ConnectionRequestPending→ConnectionRequestSent',
    'received response taken',
    'connection ConnectionRequestSent→ConnectionResponseReceived',
  ])
})

test('a record, an event, the beginning or the end of an id finds the thread; another tenant finds nothing', async () => {
  await using scene = await startIssued()
  const { issuer, holder, thid, recordId, issuerRecordId } = scene
  const [event] = (await issuer.call('GET /events', { query: { thid } })).contents
  for (const id of [
    issuerRecordId,
    event!.id,
    thid.slice(0, 8),
    issuerRecordId.slice(0, 30),
    thid.slice(-8),
    `…${issuerRecordId.slice(-8)}`,
  ])
    expect(await trace(issuer, id), id).toMatchObject({ thid, steps: { length: 9 } })
  expect(await trace(holder, recordId)).toMatchObject({ thid })
  // A tenant cannot trace records of another tenant.
  const stranger = await scene.agent.newTenant()
  for (const [tenant, id] of [
    [holder, issuerRecordId],
    [stranger, thid],
    [stranger, recordId],
    [issuer, thid.slice(0, 5)],
    [issuer, thid.slice(-5)],
    [issuer, '%%%%%%'],
    [stranger, thid.slice(-8)],
    [issuer, 'nonsense'],
  ] as const)
    // prettier-ignore
    expect(await refusal(trace(tenant, id)), id).toMatchObject({ status: 404, type: 'NotFound', detail: expect.stringContaining(id) })
  // UUIDs of version 7 begin with the time, so successive records have a common prefix.
  const several = await refusal(trace(issuer, issuerRecordId.slice(0, 6)))
  expect(several).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/several threads .*Give more characters/),
  })
})

test('a webhook that fails twice and then accepts an event has three attempts, and a pending one in between', async () => {
  await using pair = await startPair()
  await using receiver = await openReceiver((response, count) =>
    response.writeHead(count <= 2 ? 500 : 200).end(),
  )
  const { issuer, holder } = pair
  const { id } = await issuer.call('POST /events/webhooks', { body: { url: receiver.url } })
  const made = await issuer.call('POST /connections', { body: {} })
  const failing = await until(
    'a failed attempt',
    () => trace(issuer, made.thid),
    ({ steps }) => steps.some(({ kind }) => kind === 'delivery'),
  )
  const reason = 'The receiver answered 500.'
  expect(failing.pending).toEqual([
    {
      what: 'answer',
      since: made.createdAt,
      topic: 'connection',
      recordId: made.connectionId,
      state: 'InvitationGenerated',
    },
    {
      what: 'webhook',
      since: expect.any(String),
      name: id,
      events: 1,
      attempts: 1,
      reason,
      nextAt: expect.any(String),
    },
  ])
  for (const attempts of [2, 3]) {
    // Makes the retry due immediately.
    await pair.agent.agent.wallets.use(issuer.walletId, (wallet) =>
      rewriteRows(wallet, (tx) =>
        tx
          .updateTable('webhook')
          .set({ due_at: new Date(0).toISOString() })
          .execute(),
      ),
    )
    await until(
      `attempt ${attempts}`,
      () => trace(issuer, made.thid),
      ({ steps: known }) => known.length === 1 + attempts,
    )
  }
  const { steps, pending } = await trace(issuer, made.thid)
  expect(steps.map(words)).toEqual([
    'connection →InvitationGenerated',
    'webhook 1 500 failed',
    'webhook 2 500 failed',
    'webhook 3 200 delivered',
  ])
  expect(pending).toMatchObject([{ what: 'answer' }])
  expect(steps[1]).toMatchObject({
    webhookId: id,
    cause: 'automatic',
    durationMs: expect.any(Number),
    error: reason,
  })
  expect(
    (await trace(holder, (await connect(holder, issuer)).thid)).steps.filter(
      ({ kind }) => kind === 'delivery',
    ),
  ).toEqual([])
})

test('a ping is traced by its id, and waits for its answer', async () => {
  await using pair = await startPair()
  await using party = await openParty()
  const { connectionId, theirDid } = await party.connect(pair.issuer)
  const { id } = await pair.issuer.call('POST /didcomm/pings', { body: { connectionId } })
  const ping = await party.next('https://didcomm.org/trust-ping/2.0/ping')
  const asked = await until(
    'the stored ping',
    () => trace(pair.issuer, id),
    ({ steps }) => steps.length === 1,
  )
  expect(asked).toMatchObject({ thid: ping.id, records: [], pending: [{ what: 'answer' }] })
  await party.send(theirDid, { type: 'https://didcomm.org/trust-ping/2.0/ping-response', thid: ping.id })
  const { steps, pending } = await trace(pair.issuer, ping.id)
  expect([steps.map(words), pending]).toEqual([['sent ping taken', 'received ping-response taken'], []])
})

test('a refused message is a step, once, unless its sender is unknown and it is malformed', async () => {
  await using pair = await startPair()
  await using party = await openParty()
  await using stranger = await openParty()
  const { theirDid, thid } = await party.connect(pair.issuer)
  const [id, nonsense] = [randomUUID(), 'https://nobody.example/nonsense/1.0/\u001b[2J']
  for (let n = 0; n < 2; n++)
    expect((await party.send(theirDid, { type: nonsense, id, thid })).status).toBe(422)
  expect((await stranger.send(theirDid, { type: nonsense, thid })).status).toBe(422)
  const request = 'https://atalaprism.io/mercury/connections/1.0/request'
  expect((await stranger.send(theirDid, { type: request, thid })).status).toBe(400)
  const { steps } = await trace(pair.issuer, thid)
  // The refused answer to an invitation gets a report, which is a step as well.
  expect(steps.filter((step) => step.kind === 'message' && step.outcome === 'refused')).toMatchObject([
    { id, type: nonsense, from: party.did.slice(0, 80), failure: expect.stringContaining('does not know') },
    {
      type: request,
      from: stranger.did.slice(0, 80),
      failure: expect.stringContaining('answered by another agent'),
    },
  ])
})

test('problem reports and revocation notices belong to their thread', async () => {
  await using scene = await startIssued()
  const { issuer, holder, thid, issuerRecordId, inviterConnectionId: connectionId } = scene
  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuerRecordId } })
  const notified = await until(
    'the revocation notice',
    () => trace(holder, thid),
    ({ steps }) => steps.at(-1)?.kind === 'state' && steps.length === 9,
  )
  expect(notified.steps.slice(-2).map(words)).toEqual([
    'received revoke taken',
    'credential CredentialReceived→CredentialReceived',
  ])
  // The issuer stores the delivery after the response.
  const said = async () => (await trace(issuer, thid)).steps.map(words)
  await until('the issuer to know', said, (all) => all.includes('sent revoke taken'))

  const offer = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID: scene.issuing.did, claims: { a: 'b' } },
  })
  const { recordId } = await credentialIn(holder.call, offer.thid, 'OfferReceived')
  await holder.call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
  await credentialIn(issuer.call, offer.thid, 'ProblemReportReceived')
  const { steps, records, pending } = await trace(issuer, offer.recordId)
  expect(steps.slice(-2).map(words)).toEqual([
    'received problem-report taken',
    'credential OfferSent→ProblemReportReceived',
  ])
  expect(records[0]!.failure).toMatch(/declined/)
  expect(pending).toEqual([])
})
