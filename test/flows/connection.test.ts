/** Connections: invitation, request and response over the API and DIDComm. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { withDetail } from '../support/detail.ts'
import { decode } from '../support/invitation.ts'
import { connect, connectionIn, oobOf, refusal, startPair, type Tenant, until } from '../support/tenants.ts'
import { openParty, typesOf } from '../support/party.ts'

const read = ({ call }: Tenant, connectionId: string) =>
  call('GET /connections/{connectionId}', { path: { connectionId } })

test('an invitation has the label and goal of the inviter, and both sides return the same invitation', async () => {
  await using pair = await startPair()
  const made = await pair.issuer.call('POST /connections', {
    body: { label: 'Bob', goalCode: 'issue-vc', goal: 'To issue a credential >~?' },
  })
  expect(made).toMatchObject({
    label: 'Bob',
    goalCode: 'issue-vc',
    role: 'Inviter',
    state: 'InvitationGenerated',
    kind: 'Connection',
    metaRetries: 5,
  })
  expect([made.self, made.thid, made.invitation.id]).toEqual([
    made.connectionId,
    made.connectionId,
    made.connectionId,
  ])
  expect(made).not.toHaveProperty('updatedAt')
  expect(made).not.toHaveProperty('theirDid')
  expect(made.invitation.from).toMatch(/^did:peer:2\.Ez6LS\w+\.Vz6Mk\w+\.S[0-9a-zA-Z]+$/)
  expect(oobOf(made)).not.toMatch(/[-_+/]/)

  const accepted = await pair.holder.call('POST /connection-invitations', {
    body: { invitation: oobOf(made) },
  })
  expect(accepted).toMatchObject({
    role: 'Invitee',
    state: 'ConnectionRequestPending',
    thid: made.thid,
    theirDid: made.invitation.from,
    goalCode: 'issue-vc',
  })
  expect(accepted.connectionId).not.toBe(made.connectionId)
  expect(accepted).not.toHaveProperty('label')
  const { shortUrl: _shortUrl, ...invitation } = made.invitation
  expect(accepted.invitation).toEqual(invitation)

  const inviter = await connectionIn(pair.issuer.call, made.thid, 'ConnectionResponseSent')
  const invitee = await connectionIn(pair.holder.call, made.thid, 'ConnectionResponseReceived')
  expect([inviter.myDid, inviter.theirDid]).toEqual([invitee.theirDid, invitee.myDid])
  expect(inviter.myDid).toBe(made.invitation.from)
})

test('padded, unpadded, standard and URL-safe text and the whole URL are the same invitation', async () => {
  await using pair = await startPair()
  const forms: ((oob: string, url: string) => string)[] = [
    (oob) => oob.replaceAll('=', ''),
    (oob) => `${oob.replaceAll('=', '')}==`.slice(0, Math.ceil(oob.replaceAll('=', '').length / 4) * 4),
    (_oob, url) => url,
  ]
  for (const form of forms) {
    const made = await pair.issuer.call('POST /connections', { body: {} })
    const accepted = await pair.holder.call('POST /connection-invitations', {
      body: { invitation: form(oobOf(made), made.invitation.invitationUrl) },
    })
    const { shortUrl: _shortUrl, ...invitation } = made.invitation
    expect(accepted.invitation).toEqual(invitation)
  }
})

test('an invitation connects once: the second agent gets a report, and the first stays connected', async () => {
  await using pair = await startPair()
  const third = await pair.agent.newTenant('third')
  const made = await pair.issuer.call('POST /connections', { body: {} })
  await pair.holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
  const connected = await connectionIn(pair.issuer.call, made.thid, 'ConnectionResponseSent')

  const again = await refusal(
    pair.holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } }),
  )
  expect(again).toMatchObject({ status: 400, type: 'error:ConnectionServiceError:InvitationAlreadyReceived' })

  const late = await third.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
  const reported = await connectionIn(third.call, made.thid, 'ProblemReportReceived')
  expect(reported.connectionId).toBe(late.connectionId)
  expect(reported.metaLastFailure).toMatchObject({
    type: 'e.p.req.invitation-used',
    detail: expect.stringContaining('another agent'),
  })
  expect(await read(pair.issuer, made.connectionId)).toEqual(connected)
})

test('an answer to an expired invitation is refused and does not change it', async () => {
  await using pair = await startPair({ CONNECT_INVITATION_EXPIRY: '0' })
  const made = await pair.issuer.call('POST /connections', { body: {} })
  const late = await pair.holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
  const reported = await connectionIn(pair.holder.call, made.thid, 'ProblemReportReceived')
  expect(reported.connectionId).toBe(late.connectionId)
  expect(reported.metaLastFailure).toMatchObject({ type: 'e.p.req.time.invitation-expired' })
  expect((await read(pair.issuer, made.connectionId)).state).toBe('InvitationGenerated')
})

test('an invitation can be answered for its own time instead of that of the daemon', async () => {
  await using pair = await startPair({ CONNECT_INVITATION_EXPIRY: '0' })
  const made = await pair.issuer.call('POST /connections', { body: { expiresIn: 14 * 86_400 } })
  expect(made.invitation).not.toHaveProperty('expiresTime')
  const { created_time: created, expires_time: expires } = decode(made)
  expect(expires - created).toBe(14 * 86_400)
  await pair.holder.call('POST /connection-invitations', { body: { invitation: made.invitation.shortUrl! } })
  await connectionIn(pair.issuer.call, made.thid, 'ConnectionResponseSent')

  const short = await pair.issuer.call('POST /connections', { body: { expiresIn: 1 } })
  await until(
    'the end',
    () => Promise.resolve(Date.now() / 1_000),
    (now) => now > decode(short).expires_time,
  )
  const late = pair.holder.call('POST /connection-invitations', { body: { invitation: oobOf(short) } })
  expect(await refusal(late)).toMatchObject({ type: 'error:ConnectionServiceError:InvitationExpired' })
  for (const expiresIn of [0, 0.5, 30 * 86_400 + 1])
    expect(await refusal(pair.issuer.call('POST /connections', { body: { expiresIn } }))).toMatchObject(
      withDetail(400, 'expiresIn'),
    )
})

test('values that are not invitations are refused', async () => {
  await using pair = await startPair()
  const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const texts = [
    '',
    'not base64!',
    json({}),
    json([1]),
    json({ id: '1', type: 'x', from: 'y', body: {} }),
    '%%%',
    'a'.repeat(300_000),
  ]
  for (const invitation of texts) {
    expect(
      await refusal(pair.holder.call('POST /connection-invitations', { body: { invitation } })),
      invitation.slice(0, 40),
    ).toMatchObject({ status: 400 })
  }
  expect((await pair.holder.call('GET /connections')).contents).toEqual([])
})

test('another tenant’s connection gets the same response as an unknown one', async () => {
  await using pair = await startPair()
  const made = await pair.issuer.call('POST /connections', { body: {} })
  const unknown = randomUUID()
  const [foreign, absent] = [
    await refusal(read(pair.holder, made.connectionId)),
    await refusal(read(pair.holder, unknown)),
  ]
  const neutral = ({ detail, ...rest }: { detail: string }) => ({
    ...rest,
    detail: detail.replace(/[0-9a-f-]{36}/, 'ID'),
    instance: '',
  })
  expect(neutral(foreign)).toEqual(neutral(absent))
  expect(foreign).toMatchObject({ status: 404, type: 'error:ConnectionServiceError:RecordIdNotFound' })
})

test('a malformed request is refused and changes nothing; a repeated valid one gets the same response', async () => {
  await using pair = await startPair()
  await using party = await openParty()
  const made = await pair.issuer.call('POST /connections', { body: {} })
  const ask = (body: Record<string, unknown>) =>
    party.send(made.invitation.from, {
      type: typesOf.connectionRequest,
      thid: made.thid,
      pthid: made.thid,
      body,
    })
  const bodies: [string, Record<string, unknown>][] = [
    ['goal_code', { goal_code: 1 }],
    ['goal', { goal: { deep: true } }],
    ['goal', { goal: 'x'.repeat(1_001) }],
    ['accept', { accept: 'didcomm/v2' }],
    ['accept.0', { accept: [null] }],
    ['accept.1', { accept: ['didcomm/v2', 'x'.repeat(256)] }],
    ['accept', { accept: Array(101).fill('didcomm/v2') }],
  ]
  for (const [member, body] of bodies) {
    expect(await ask(body)).toEqual({
      status: 422,
      detail: expect.stringContaining(`The connection request cannot be read: ${member}: `),
    })
  }
  expect(await read(pair.issuer, made.connectionId)).toEqual(made)
  expect(party.envelopes).toEqual([])

  const said = { goal_code: 'x'.repeat(1_000), accept: ['didcomm/v2'] }
  expect((await ask({ ...said, goal: null, more: { deep: 'x' } })).status).toBe(200)
  expect((await party.next('https://atalaprism.io/mercury/connections/1.0/response')).body).toEqual(said)
})

test('a list is a page in order of creation, and filters by thid', async () => {
  await using pair = await startPair()
  const made = []
  for (let n = 0; n < 5; n++)
    made.push(await pair.issuer.call('POST /connections', { body: { label: `number ${n}` } }))
  const page = await pair.issuer.call('GET /connections', { query: { offset: 1, limit: 2 } })
  expect(page).toMatchObject({ kind: 'Collection', self: '/collections' })
  expect(page.contents.map(({ label }) => label)).toEqual(['number 1', 'number 2'])
  expect([page.previous, page.next]).toEqual([
    '/connections?offset=0&limit=2',
    '/connections?offset=3&limit=2',
  ])
  expect((await pair.issuer.call('GET /connections', { query: { thid: made[3]!.thid } })).contents).toEqual([
    made[3],
  ])
})

test('messages that were not delivered say that their connection was removed', async () => {
  await using pair = await startPair()
  await using party = await openParty({
    answer: (response, count) => void response.writeHead(count === 1 ? 200 : 503).end(),
  })
  const { connectionId } = await party.connect(pair.issuer)
  await pair.issuer.call('POST /messages', { body: { connectionId, content: 'too late' } })
  const { id } = await pair.issuer.call('POST /didcomm/pings', { body: { connectionId } })
  await pair.issuer.call('DELETE /connections/{connectionId}', { path: { connectionId } })
  const removed = { failure: 'The connection was removed.' }
  expect((await pair.issuer.call('GET /messages')).contents).toMatchObject([removed])
  expect(await pair.issuer.call('GET /didcomm/pings/{id}', { path: { id } })).toMatchObject(removed)
})

test('an invitation and a connection can be deleted, unless a flow over it waits', async () => {
  await using pair = await startPair()
  const remove = (connectionId: string) =>
    pair.issuer.call('DELETE /connections/{connectionId}', { path: { connectionId } })
  const { connectionId } = await pair.issuer.call('POST /connections', { body: {} })
  await remove(connectionId)
  expect((await refusal(read(pair.issuer, connectionId))).status).toBe(404)
  const { inviterConnectionId, inviteeConnectionId } = await connect(pair.issuer, pair.holder)
  const { presentationId: waiting } = await pair.issuer.call('POST /present-proof/presentations', {
    body: { connectionId: inviterConnectionId, proofs: [] },
  })
  expect(await refusal(remove(inviterConnectionId))).toMatchObject(withDetail(403, waiting))
  await pair.issuer.call('DELETE /present-proof/presentations/{presentationId}', {
    path: { presentationId: waiting },
  })
  await pair.issuer.call('POST /messages', {
    body: { connectionId: inviterConnectionId, content: 'before' },
  })
  await remove(inviterConnectionId)
  expect((await refusal(read(pair.issuer, inviterConnectionId))).status).toBe(404)
  // Nothing of the other side arrives any more, and what was exchanged stays.
  const { messageId } = await pair.holder.call('POST /messages', {
    body: { connectionId: inviteeConnectionId, content: 'after' },
  })
  await until(
    'the refusal',
    () => pair.holder.call('GET /messages'),
    ({ contents }) =>
      contents.some((message) => message.messageId === messageId && message.failure !== undefined),
  )
  expect((await pair.issuer.call('GET /messages')).contents.map(({ content }) => content)).toEqual(['before'])
})
