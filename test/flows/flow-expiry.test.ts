/** Flows expire after `FLOW_EXPIRY` in every waiting state. Finished flows and unexpired invitations stay. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { openLog } from '../../src/foundation/log.ts'
import { createWorker } from '../../src/exchange/create-worker.ts'
import { composition } from '../../src/exchange/all-protocols.ts'
import { createInvitation, toInvitationUrl } from '../../src/exchange/didcomm/invitation.ts'
import { jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { getPeers } from '../../src/exchange/protocols/peers.ts'
import { expire } from '../../src/exchange/engine/expiry.ts'
import { issueCredential } from '../../src/exchange/issuance/model.ts'
import { onProblemReport } from '../../src/exchange/protocols/report-problem.ts'
import type { Tx } from '../../src/foundation/storage/database.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { sharedAgent, startAgent, type TestAgent } from '../support/agent.ts'
import { acceptOffer, announced, offerByInvitation, acceptOfferInvitation } from '../support/invitation.ts'
import {
  connect,
  connectionIn,
  credentialIn,
  newDid,
  oobOf,
  presentationIn,
  startPair,
  until,
  type Tenant,
} from '../support/tenants.ts'
import { openParty, typesOf } from '../support/party.ts'
import { rewriteRows } from '../support/rewrite-rows.ts'
import { countPolls } from '../wallet/outbox/_polls.ts'
import {
  expectRefusal,
  issueRequested,
  prove,
  readCredential,
  requestProof,
  startWithCredential,
  startWithOffer,
  startWithParty,
} from './_steps.ts'

const report = 'https://didcomm.org/report-problem/2.0/problem-report'
const code = 'e.p.req.time.flow-expired'
const monthMs = 30 * 86_400_000
const silent = openLog('silent')

const use = <T>({ agent }: TestAgent, { walletId }: Tenant, work: (wallet: Wallet) => Promise<T>) =>
  agent.wallets.use(walletId, work)

/** Changes the waiting times of a wallet's flows in the database, and wakes the worker. */
async function rewrite(agent: TestAgent, tenant: Tenant, write: (tx: Tx) => Promise<unknown>): Promise<void> {
  await use(agent, tenant, (wallet) => rewriteRows(wallet, write))
  agent.agent.worker.wake(tenant.walletId)
}

/** Sets the waiting time of a wallet's record of a thread. */
const age = (agent: TestAgent, tenant: Tenant, thid: string, ms = monthMs) =>
  rewrite(agent, tenant, async (tx) => {
    const waits_since = new Date(Date.now() - ms).toISOString()
    const { numUpdatedRows } = await tx
      .updateTable('record')
      .set({ waits_since })
      .where('thid', '=', thid)
      .where('waits_since', 'is not', null)
      .executeTakeFirst()
    expect(numUpdatedRows).toBe(1n)
  })

const failureIn = (state: string) => ({
  status: 408,
  type: 'FlowExpired',
  title: 'Flow Expired',
  detail: expect.stringMatching(new RegExp(`was in state ${state} since .* expired after 30 days`)),
})
const reported = {
  status: 400,
  type: code,
  title: 'Problem report',
  detail: 'The flow has expired: nothing has happened for 30 days.',
}

describe('a credential', () => {
  test('that is not requested ends on both sides', async () => {
    await using pair = await startWithOffer({}, startAgent)
    const { agent, issuer, holder, thid } = pair
    await age(agent, issuer, thid)
    const sent = await credentialIn(issuer.call, thid, 'ProblemReportSent')
    expect(sent.metaLastFailure).toEqual(failureIn('OfferSent'))
    expect((await credentialIn(holder.call, thid, 'ProblemReportReceived')).metaLastFailure).toEqual(reported)
    expect(await announced(agent, issuer, thid)).toEqual([
      'OfferPending',
      'OfferSent',
      'ProblemReportPending',
      'ProblemReportSent',
    ])
    expect(await announced(agent, holder, thid)).toEqual(['OfferReceived', 'ProblemReportReceived'])
    await expectRefusal(acceptOffer(holder, pair.recordId), 400, 'ProblemReport')
  })

  test('whose offer is not answered ends, and the issuer gets a report', async () => {
    await using pair = await startWithOffer({}, startAgent)
    const { agent, issuer, holder, thid } = pair
    await age(agent, holder, thid)
    expect((await credentialIn(holder.call, thid, 'ProblemReportSent')).metaLastFailure).toEqual(
      failureIn('OfferReceived'),
    )
    expect((await credentialIn(issuer.call, thid, 'ProblemReportReceived')).metaLastFailure).toEqual(reported)
  })

  test.each(['issuer', 'holder'] as const)(
    'that is never issued expires on either side: the %s',
    async (side) => {
      await using pair = await startWithOffer({}, startAgent)
      const { agent, thid } = pair
      await acceptOffer(pair.holder, pair.recordId)
      await credentialIn(pair.issuer.call, thid, 'RequestReceived')
      await credentialIn(pair.holder.call, thid, 'RequestSent')
      await age(agent, pair[side], thid)
      expect((await credentialIn(pair[side].call, thid, 'ProblemReportSent')).metaLastFailure).toEqual(
        failureIn(side === 'issuer' ? 'RequestReceived' : 'RequestSent'),
      )
      await credentialIn(pair[side === 'issuer' ? 'holder' : 'issuer'].call, thid, 'ProblemReportReceived')
      const late = issueRequested(pair.issuer, pair.issuerRecordId)
      await expectRefusal(late, 400, 'ProblemReport')
    },
  )

  test('whose offer is in an invitation becomes InvitationExpired, but not before the invitation ends', async () => {
    await using pair = await startPair({ ISSUANCE_INVITATION_EXPIRY: '90 days' }, startAgent)
    const { agent, issuer, holder } = pair
    const { thid, invitation, recordId } = await offerByInvitation(issuer)
    const row = await use(agent, issuer, ({ db }) =>
      db.selectFrom('record').select('waits_since').where('id', '=', recordId).executeTakeFirstOrThrow(),
    )
    expect(Date.parse(row.waits_since!)).toBeGreaterThan(Date.now() + 89 * 86_400_000)
    const taken = await acceptOfferInvitation(holder, oobOf({ invitation: invitation! }))
    await age(agent, issuer, thid)
    expect((await credentialIn(issuer.call, thid, 'InvitationExpired')).metaLastFailure).toEqual(
      failureIn('InvitationGenerated'),
    )
    expect(await announced(agent, issuer, thid)).toEqual(['InvitationGenerated', 'InvitationExpired'])
    await age(agent, holder, thid)
    // The issuer's flow has ended, and the report is refused.
    const read = () => readCredential(holder, taken.recordId)
    const left = await until('the refusal', read, ({ metaRetries }) => metaRetries === 0)
    expect(left).toMatchObject({
      protocolState: 'ProblemReportPending',
      metaLastFailure: failureIn('OfferReceived'),
    })
  })
})

describe('a proof', () => {
  test.each(['verifier', 'prover'] as const)(
    'that is not presented expires on either side: the %s',
    async (side) => {
      await using pair = await startPair({}, startAgent)
      const [verifier, prover] = [pair.issuer, pair.holder]
      const { inviterConnectionId: connectionId } = await connect(verifier, prover)
      const { thid } = await requestProof(verifier, prover, { connectionId })
      await presentationIn(verifier.call, thid, 'RequestSent')
      const [own, other] = side === 'verifier' ? [verifier, prover] : [prover, verifier]
      await age(pair.agent, own, thid)
      const { metaLastFailure } = await presentationIn(own.call, thid, 'ProblemReportSent')
      expect(metaLastFailure).toEqual(failureIn(side === 'verifier' ? 'RequestSent' : 'RequestReceived'))
      expect((await presentationIn(other.call, thid, 'ProblemReportReceived')).metaLastFailure).toEqual(
        reported,
      )
    },
  )
})

describe('a connection', () => {
  test('whose inviter never answers ends', async () => {
    const agent = await sharedAgent()
    const tenant = await agent.newTenant()
    await using party = await openParty()
    const invitation = toInvitationUrl(
      'https://example.com',
      createInvitation({ id: randomUUID(), from: party.did }),
    )
    const { thid } = await tenant.call('POST /connection-invitations', { body: { invitation } })
    await connectionIn(tenant.call, thid, 'ConnectionRequestSent')
    const request = await party.next(typesOf.connectionRequest)
    await age(agent, tenant, thid)
    expect((await connectionIn(tenant.call, thid, 'ProblemReportSent')).metaLastFailure).toEqual(
      failureIn('ConnectionRequestSent'),
    )
    expect(await party.next(report)).toMatchObject({ from: request.from, pthid: thid, body: { code } })
    const response = { type: 'https://atalaprism.io/mercury/connections/1.0/response', thid }
    expect((await party.send(request.from!, response)).status).toBe(400)
    await connectionIn(tenant.call, thid, 'ProblemReportSent')
  })

  test('that is unanswered keeps its state, like an invitation', async () => {
    const agent = await sharedAgent()
    const tenant = await agent.newTenant()
    await tenant.call('POST /connections', { body: {} })
    const rows = await use(agent, tenant, ({ db }) => db.selectFrom('record').select('waits_since').execute())
    expect(rows).toEqual([{ waits_since: null }])
  })
})

test('the jobs of an expired flow are cancelled, and its failure stays while the report is not delivered', async () => {
  let isThere = true
  const answer = (response: ServerResponse) => void response.writeHead(isThere ? 200 : 503).end()
  await using scene = await startWithParty({ answer }, startAgent)
  const { agent, tenant, party, connectionId } = scene
  isThere = false
  const { did: issuingDID } = await newDid(tenant, 'assertionMethod')
  const body = { connectionId, issuingDID, claims: { a: 1 } }
  const { thid, recordId } = await tenant.call('POST /issue-credentials/credential-offers', { body })
  const read = () => readCredential(tenant, recordId)
  await until('a failure', read, ({ metaLastFailure }) => metaLastFailure !== undefined)
  await age(agent, tenant, thid)
  await credentialIn(tenant.call, thid, 'ProblemReportPending')
  const queue = () =>
    use(agent, tenant, ({ db }) =>
      db.selectFrom('job').select(['body', 'attempts']).where('queue', '=', `record:${recordId}`).execute(),
    )
  const [left, ...more] = await until('an attempt', queue, ([first]) => (first?.attempts ?? 0) > 0)
  expect([JSON.parse(left!.body).message.type, more]).toEqual([report, []])
  expect((await read()).metaLastFailure).toEqual(failureIn('OfferPending'))
  isThere = true
  await credentialIn(tenant.call, thid, 'ProblemReportSent')
  expect(await party.next(report)).toMatchObject({ thid, pthid: thid, body: { code } })
})

test('the jobs of an expired flow do not run first', async () => {
  await using scene = await startWithParty({}, startAgent)
  const { agent, tenant, party, connectionId } = scene
  await agent.agent.worker[Symbol.asyncDispose]()
  const { thid } = await tenant.call('POST /present-proof/presentations', { body: { connectionId } })
  await age(agent, tenant, thid)
  await using worker = createWorker(agent.agent.config, agent.agent.wallets, silent)
  await worker.resume()
  await presentationIn(tenant.call, thid, 'ProblemReportSent')
  expect(await party.next(report)).toMatchObject({ thid })
  expect(party.inbox.map(({ message: { type } }) => type)).not.toContain(typesOf.presentationRequest)
})

test('a message for an expired flow is refused and changes nothing', async () => {
  await using scene = await startWithParty({}, startAgent)
  const { agent, tenant, connectionId, say } = scene
  const { thid } = await tenant.call('POST /present-proof/presentations', { body: { connectionId } })
  await presentationIn(tenant.call, thid, 'RequestSent')
  await age(agent, tenant, thid)
  await presentationIn(tenant.call, thid, 'ProblemReportSent')
  const before = await announced(agent, tenant, thid)
  const attachments = [jsonAttachment('1', { a: 1 }, 'prism/jwt')]
  const late = { type: 'https://didcomm.atalaprism.io/present-proof/3.0/presentation', thid, attachments }
  expect((await say(late)).status).toBe(400)
  expect(await announced(agent, tenant, thid)).toEqual(before)
})

test('a finished flow never expires', async () => {
  await using pair = await startWithCredential({}, 'secp256k1', startAgent)
  const { agent, issuer, holder, connectionId, recordId } = pair
  await credentialIn(issuer.call, pair.thid, 'CredentialSent')
  const { thid, presentationId } = await requestProof(issuer, holder, { connectionId })
  await prove(holder, presentationId, recordId)
  await presentationIn(issuer.call, thid, 'PresentationVerified')
  await presentationIn(holder.call, thid, 'PresentationSent')
  for (const tenant of [issuer, holder]) {
    const waiting = await use(agent, tenant, ({ db }) =>
      db.selectFrom('record').select(['protocol', 'state']).where('waits_since', 'is not', null).execute(),
    )
    expect(waiting).toEqual([])
  }
})

test('a timer ends flows when they are due, and not before', async () => {
  await using pair = await startWithOffer({}, startAgent)
  const { agent, holder, thid } = pair
  const since = Date.now() - monthMs + 400
  await age(agent, holder, thid, Date.now() - since)
  const { updatedAt } = await credentialIn(holder.call, thid, 'ProblemReportSent')
  expect(Date.parse(updatedAt!)).toBeGreaterThanOrEqual(since + monthMs)
})

test('a flow that begins after the last poll also expires', async () => {
  await using pair = await startPair({ FLOW_EXPIRY: '2s' }, startAgent)
  const { inviterConnectionId: connectionId } = await connect(pair.issuer, pair.holder)
  const { presentationId } = await pair.issuer.call('POST /present-proof/presentations', {
    body: { connectionId },
  })
  // Both sides wait for the same time: either one may send the report.
  await until(
    'the end of the flow',
    async () =>
      (
        await pair.issuer.call('GET /present-proof/presentations/{presentationId}', {
          path: { presentationId },
        })
      ).status,
    (status) => status.startsWith('ProblemReport'),
  )
})

test('flows that became due while the agent was stopped end at the next start', async () => {
  await using pair = await startWithOffer({}, startAgent)
  const { agent, holder, issuer, thid } = pair
  await agent.agent.worker[Symbol.asyncDispose]()
  await age(agent, holder, thid)
  await age(agent, issuer, thid)
  await using worker = createWorker(agent.agent.config, agent.agent.wallets, silent)
  await worker.resume()
  await credentialIn(holder.call, thid, 'ProblemReportSent')
  await credentialIn(issuer.call, thid, 'ProblemReportSent')
})

test('a report that arrives while the flow expires is accepted and changes nothing', async () => {
  await using pair = await startWithOffer({}, startAgent)
  const { agent, issuer, thid, issuerRecordId: recordId, connectionId } = pair
  await agent.agent.worker[Symbol.asyncDispose]()
  await age(agent, issuer, thid)
  await use(agent, issuer, async (wallet) => {
    const { theirDid: from, myDid: to } = await getPeers(wallet.db, connectionId)
    const write = await onProblemReport([issueCredential])(wallet, {
      id: randomUUID(),
      type: report,
      from,
      to,
      thid,
      body: { code },
      attachments: [],
    })
    await expire(wallet, { recordId, protocol: 'issue-credential' }, composition)
    await wallet.transaction(write)
  })
  expect(await credentialIn(issuer.call, thid, 'ProblemReportPending')).toMatchObject({
    metaLastFailure: failureIn('OfferSent'),
  })
})

test('many expired flows all end', async () => {
  await using scene = await startWithParty({}, startAgent)
  const { agent, tenant, connectionId } = scene
  const thids: string[] = []
  for (let n = 0; n < 40; n++)
    thids.push((await tenant.call('POST /present-proof/presentations', { body: { connectionId } })).thid)
  for (const thid of thids) await presentationIn(tenant.call, thid, 'RequestSent')
  const waits_since = new Date(Date.now() - monthMs).toISOString()
  await rewrite(agent, tenant, (tx) =>
    tx.updateTable('record').set({ waits_since }).where('waits_since', 'is not', null).execute(),
  )
  for (const thid of thids) await presentationIn(tenant.call, thid, 'ProblemReportSent')
})

test('a wallet with waiting flows is polled only when needed, and is closed in between', async () => {
  await using pair = await startWithOffer({}, startAgent)
  const { agent, holder } = pair
  const { counting, polls } = countPolls(agent.agent.wallets)
  await using worker = createWorker(agent.agent.config, counting, silent)
  worker.wake(holder.walletId)
  await until(
    'the end of the poll',
    () => Promise.resolve([polls(), worker.busy()] as const),
    ([count, busy]) => count > 0 && busy.length === 0,
  )
  await agent.newTenant('another one, which takes its time')
  expect([polls(), worker.busy()]).toEqual([1, []])
})

test('a leftover `waits_since` of a finished flow is cleared', async () => {
  const agent = await sharedAgent()
  const tenant = await agent.newTenant()
  const { connectionId } = await tenant.call('POST /connections', { body: {} })
  await rewrite(agent, tenant, (tx) =>
    tx
      .updateTable('record')
      .set({ waits_since: new Date(0).toISOString() })
      .where('id', '=', connectionId)
      .execute(),
  )
  const rows = () =>
    use(agent, tenant, ({ db }) => db.selectFrom('record').select(['state', 'waits_since']).execute())
  await expect.poll(rows).toEqual([{ state: 'InvitationGenerated', waits_since: null }])
})
