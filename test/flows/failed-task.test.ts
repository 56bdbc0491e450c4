/**
 * A credential or a presentation that cannot be made: the call is refused, or the flow ends and the other
 * side is told.
 */
import { CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import type { TestAgent } from '../support/agent.ts'
import { rewriteRows } from '../support/rewrite-rows.ts'
import { credentialIn, presentationIn, type Tenant } from '../support/tenants.ts'
import {
  acceptOfferWith,
  expectRefusal,
  issueRequested,
  prove,
  requestProof,
  startWithCredential,
  startWithOffer,
} from './_steps.ts'

type Database = { agent: TestAgent; tenant: Tenant }

const run = ({ agent, tenant }: Database, statement: string) =>
  agent.agent.wallets.use(tenant.walletId, (wallet) =>
    rewriteRows(wallet, (tx) => tx.executeQuery(CompiledQuery.raw(statement))),
  )

/** Deactivates the DIDs of a wallet in the database, without a ledger operation. */
const deactivate = (database: Database) =>
  run(database, `update did set state = json_set(state, '$.deactivated', json('true'))`)

const jobsOf = ({ agent, tenant }: Database, recordId: string) =>
  agent.agent.wallets.use(tenant.walletId, ({ db }) =>
    db.selectFrom('job').select('queue').where('queue', '=', `record:${recordId}`).execute(),
  )

const told = { type: 'e.p.me.cannot-complete', title: 'Problem report' }

test('an issuer whose DID was deactivated cannot issue, and the request waits', async () => {
  await using pair = await startWithOffer({ automaticIssuance: false })
  const { holder, issuer, issuerRecordId, thid, recordId, subjectId } = pair
  await acceptOfferWith(holder, recordId, { subjectId })
  await credentialIn(issuer.call, thid, 'RequestReceived')
  await deactivate({ agent: pair.agent, tenant: issuer })
  await expectRefusal(issueRequested(issuer, issuerRecordId), 400, 'is deactivated')
  await credentialIn(issuer.call, thid, 'RequestReceived')
  await credentialIn(holder.call, thid, 'RequestSent')
})

test('automatic issuance by a deactivated DID ends the flow on both sides', async () => {
  await using pair = await startWithOffer({ automaticIssuance: true })
  const { holder, issuer, issuerRecordId, thid, recordId, subjectId } = pair
  const database = { agent: pair.agent, tenant: issuer }
  await deactivate(database)
  await acceptOfferWith(holder, recordId, { subjectId })
  const ended = await credentialIn(issuer.call, thid, 'ProblemReportSent')
  expect(ended.metaLastFailure).toMatchObject({
    status: 400,
    detail: expect.stringContaining('is deactivated'),
  })
  expect((await credentialIn(holder.call, thid, 'ProblemReportReceived')).metaLastFailure).toEqual({
    ...told,
    status: 400,
    detail: 'The credential cannot be made.',
  })
  expect(await jobsOf(database, issuerRecordId)).toEqual([])
})

test('a presentation of a credential that is lost after the consent ends the flow on both sides', async () => {
  await using pair = await startWithCredential()
  const { holder, issuer, connectionId, recordId } = pair
  const database = { agent: pair.agent, tenant: holder }
  await run(
    database,
    `create trigger lose after update on record when new.state = 'PresentationPending'
    begin delete from credential; end`,
  )
  const { thid, presentationId } = await requestProof(issuer, holder, { connectionId })
  await prove(holder, presentationId, recordId)
  const ended = await presentationIn(holder.call, thid, 'ProblemReportSent')
  expect(ended.metaLastFailure).toMatchObject({ detail: expect.stringContaining(recordId) })
  expect((await presentationIn(issuer.call, thid, 'ProblemReportReceived')).metaLastFailure).toMatchObject({
    ...told,
    detail: 'The presentation cannot be made.',
  })
  expect(await jobsOf(database, presentationId)).toEqual([])
})
