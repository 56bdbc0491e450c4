/**
 * Old records and messages are deleted only if the operator sets a retention, and only those that nobody
 * needs.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createRetention } from '../../src/exchange/retention.ts'
import { openLog } from '../../src/foundation/log.ts'
import { connect, presentationIn, until, type Tenant } from '../support/tenants.ts'
import { Daemon } from '../support/daemon.ts'
import type { TestAgent } from '../support/agent.ts'
import { rewriteRows } from '../support/rewrite-rows.ts'
import { requestProof, prove, startWithCredential, startWithOffer } from '../flows/_steps.ts'

const day = 86_400
const usual = {
  EVENT_RETENTION: 30 * day,
  PROOF_RETENTION: undefined,
  FAILED_RECORD_RETENTION: undefined,
  MESSAGE_RETENTION: undefined,
  CONNECT_INVITATION_EXPIRY: 300,
}

/** Makes everything in a wallet older. */
const age = ({ agent }: TestAgent, { walletId }: Tenant, seconds: number) =>
  agent.wallets.use(walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const at = new Date(Date.now() - seconds * 1_000).toISOString()
      await tx.updateTable('record').set({ created_at: at, updated_at: at }).execute()
      await tx.updateTable('message').set({ created_at: at }).execute()
      await tx.updateTable('event').set({ ts: at }).execute()
      await tx.updateTable('message_log').set({ at }).execute()
      await tx.updateTable('inbox').set({ received_at: at }).execute()
    }),
  )

/** Waits until the wallets have sent everything, so that they write nothing new. */
const untilSent = ({ agent }: TestAgent, ...tenants: Tenant[]) =>
  until(
    'the last message',
    async () => {
      const jobs = tenants.map(({ walletId }) =>
        agent.wallets.use(walletId, ({ db }) => db.selectFrom('job').select('id').execute()),
      )
      return (await Promise.all(jobs)).flat().length
    },
    (count) => count === 0,
  )

/** Deletes what is too old at the agent now. */
async function apply({ agent }: TestAgent, settings: Partial<Record<keyof typeof usual, number>>) {
  await using retention = createRetention({ ...usual, ...settings }, agent.wallets, openLog('silent'))
  await retention.apply()
}

const totals = async ({ call }: Tenant) => [
  (await call('GET /connections')).contents.length,
  (await call('GET /issue-credentials/records')).contents.length,
  (await call('GET /present-proof/presentations')).contents.length,
  (await call('GET /messages')).contents.length,
]

test('proofs and messages are deleted after their time, and credentials and connections stay', async () => {
  await using pair = await startWithCredential()
  const { agent, issuer, holder, connectionId, recordId } = pair
  await issuer.call('POST /messages', { body: { connectionId, content: 'hi' } })
  const { thid, presentationId } = await requestProof(issuer, holder, { connectionId })
  await prove(holder, presentationId, recordId)
  await presentationIn(issuer.call, thid, 'PresentationVerified')
  const waiting = await requestProof(issuer, holder, { connectionId })
  await until(
    'message',
    () => totals(holder),
    ([, , , messages]) => messages === 1,
  )
  await untilSent(agent, issuer, holder)
  for (const each of [issuer, holder]) await age(agent, each, 10 * day)

  await apply(agent, {})
  await apply(agent, { PROOF_RETENTION: 11 * day, MESSAGE_RETENTION: 11 * day })
  expect([await totals(issuer), await totals(holder)]).toEqual([
    [1, 1, 2, 1],
    [1, 1, 2, 1],
  ])

  await apply(agent, {
    PROOF_RETENTION: 9 * day,
    FAILED_RECORD_RETENTION: 9 * day,
    MESSAGE_RETENTION: 9 * day,
  })
  expect([await totals(issuer), await totals(holder)]).toEqual([
    [1, 1, 1, 0],
    [1, 1, 1, 0],
  ])
  // The flow that waits goes on.
  await prove(holder, waiting.presentationId, recordId)
  await presentationIn(issuer.call, waiting.thid, 'PresentationVerified')
})

test('failed flows and expired invitations are deleted after their time, and valid invitations stay', async () => {
  await using pair = await startWithOffer()
  const { agent, issuer, holder, recordId, issuerRecordId } = pair
  await holder.call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
  await until(
    'rejection',
    () => issuer.call('GET /issue-credentials/records/{recordId}', { path: { recordId: issuerRecordId } }),
    ({ protocolState }) => protocolState === 'ProblemReportReceived',
  )
  const short = await issuer.call('POST /connections', { body: { label: 'short', expiresIn: 1 } })
  await issuer.call('POST /connections', { body: { label: 'valid for long', expiresIn: 14 * day } })
  await untilSent(agent, issuer, holder)
  await age(agent, issuer, 10 * day)
  await apply(agent, { FAILED_RECORD_RETENTION: 11 * day })
  expect(await totals(issuer)).toEqual([3, 1, 0, 0])
  await until(
    'the end of the short one',
    async () => Date.now(),
    (now) => now > Date.parse(short.createdAt) + 2_000,
  )
  await apply(agent, { FAILED_RECORD_RETENTION: 9 * day })
  expect(await totals(issuer)).toEqual([2, 0, 0, 0])
})

test('in a wallet that nobody uses any more, old events, logged messages and message ids are deleted', async () => {
  await using pair = await startWithCredential()
  const { agent, issuer, holder, connectionId, recordId } = pair
  const { thid, presentationId } = await requestProof(issuer, holder, { connectionId })
  await prove(holder, presentationId, recordId)
  await presentationIn(issuer.call, thid, 'PresentationVerified')
  await untilSent(agent, issuer, holder)
  const count = async (table: 'event' | 'message_log' | 'inbox') =>
    agent.agent.wallets.use(issuer.walletId, async ({ db }) => {
      const { all } = await db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll().as('all'))
        .executeTakeFirstOrThrow()
      return Number(all)
    })
  const counts = () => Promise.all([count('event'), count('message_log'), count('inbox')])
  const before = await counts()
  expect(Math.min(...before)).toBeGreaterThan(2)

  await age(agent, issuer, 10 * day)
  await apply(agent, { EVENT_RETENTION: 11 * day })
  expect(await counts()).toEqual(before)
  await apply(agent, { EVENT_RETENTION: 9 * day })
  expect(await counts()).toEqual([1, 0, before[2]])
  await age(agent, issuer, 31 * day)
  await apply(agent, { EVENT_RETENTION: 9 * day })
  expect(await counts()).toEqual([1, 0, 0])

  const [newest] = (await issuer.call('GET /events')).contents
  expect(newest).toMatchObject({
    type: 'PresentationUpdated',
    data: { presentationId: expect.any(String), status: 'PresentationVerified', thid, role: 'Verifier' },
  })
  expect(Object.keys(newest!.data)).toHaveLength(4)
  const next = await issuer.call('POST /events/test', { body: { type: 'ConnectionUpdated' } })
  expect((await issuer.call('GET /events', { query: { after: newest!.id } })).contents).toEqual([next])
})

test('a daemon applies the settings when it starts', async () => {
  await using daemon = await Daemon.start()
  const [alice, bob] = [await daemon.newTenant('alice'), await daemon.newTenant('bob')]
  const { inviterConnectionId: connectionId } = await connect(alice, bob)
  await alice.call('POST /messages', { body: { connectionId, content: 'hi' } })
  await until(
    'message',
    () => totals(bob),
    ([, , , messages]) => messages === 1,
  )
  await daemon.stop()
  daemon.env['MESSAGE_RETENTION'] = '1'
  await sleep(1_100)
  await daemon.start()
  await until(
    'deletion',
    () => totals(bob),
    ([, , , messages]) => messages === 0,
  )
})
