/** Automatic acceptance of offers over a connection, and the offers that still need manual acceptance. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openLog } from '../../src/foundation/log.ts'
import { createWorker } from '../../src/exchange/create-worker.ts'
import { jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { sharedAgent, type TestAgent } from '../support/agent.ts'
import { announced, offerByInvitation, acceptOfferInvitation } from '../support/invitation.ts'
import { connectionIn, credentialIn, newDid, oobOf, refusal, until, type Tenant } from '../support/tenants.ts'
import { typesOf } from '../support/party.ts'
import { rewriteRows } from '../support/rewrite-rows.ts'
import { expectRefusal, acceptOfferWith, startConnected, startWithParty } from './_steps.ts'

type Terms = {
  credentialOffers: boolean
  subjectId?: string
  keyId?: string
  credentialFormats?: ('JWT' | 'SDJWT')[]
  schemaIds?: string[]
}

const update = ({ call }: Tenant, connectionId: string, automaticAcceptance: Terms) =>
  call('PATCH /connections/{connectionId}', { path: { connectionId }, body: { automaticAcceptance } })
const jobsOf = ({ agent }: TestAgent, { walletId }: Tenant, recordId: string) =>
  agent.wallets.use(walletId, ({ db }) =>
    db.selectFrom('job').select('body').where('queue', '=', `record:${recordId}`).execute(),
  )

/**
 * A connected pair whose holder accepts automatically by `terms`; `offer` creates an offer over the
 * connection.
 */
async function startAccepting(terms: Omit<Terms, 'credentialOffers' | 'subjectId'> = {}) {
  const pair = await startConnected()
  const { issuer, holder, connectionId, holderConnectionId, issuingDID } = pair
  const subjectId = pair.subject.longFormDid
  await update(holder, holderConnectionId, { credentialOffers: true, subjectId, ...terms })
  return {
    ...pair,
    subjectId,
    offer: (more: object = {}) =>
      issuer.call('POST /issue-credentials/credential-offers', {
        body: { connectionId, issuingDID, claims: { a: 1 }, automaticIssuance: true, ...more },
      }),
  }
}

/** A tenant that accepts every offer of a test party; `offer` sends an offer and returns its thread. */
async function startWithIssuer(set: boolean) {
  const scene = await startWithParty()
  const { tenant, connectionId } = scene
  const { did: subjectId, longFormDid } = await newDid(tenant, 'authentication')
  if (set) await update(tenant, connectionId, { credentialOffers: true, subjectId: longFormDid })
  return {
    ...scene,
    subjectId,
    async offer(preview: object = {}) {
      const thid = randomUUID()
      const body = { credential_preview: { ...preview, body: { attributes: [{ name: 'a', value: 'b' }] } } }
      const attachments = [jsonAttachment('1', { options: { challenge: 'c', domain: 'd' } }, 'prism/jwt')]
      expect((await scene.say({ type: typesOf.offer, thid, body, attachments })).status).toBe(200)
      return thid
    },
  }
}

test('nothing is accepted automatically by default', async () => {
  await using scene = await startWithIssuer(false)
  const thid = await scene.offer()
  const { recordId } = await credentialIn(scene.tenant.call, thid, 'OfferReceived')
  expect(await jobsOf(scene.agent, scene.tenant, recordId)).toEqual([])
  const connection = await scene.tenant.call('GET /connections/{connectionId}', {
    path: { connectionId: scene.connectionId },
  })
  expect(connection).not.toHaveProperty('automaticAcceptance')
})

test('an offer over the connection passes all states of a manual acceptance', async () => {
  await using pair = await startAccepting()
  const { thid } = await pair.offer()
  expect(await credentialIn(pair.holder.call, thid, 'CredentialReceived')).toMatchObject({
    subjectId: pair.subjectId,
    claims: { a: 1 },
  })
  expect(await announced(pair.agent, pair.holder, thid)).toEqual([
    'OfferReceived',
    'RequestPending',
    'RequestSent',
    'CredentialReceived',
  ])
})

test('an SD-JWT is bound to the configured key of the holder', async () => {
  await using pair = await startAccepting({ keyId: 'key-1', credentialFormats: ['SDJWT'] })
  const { thid } = await pair.offer({ credentialFormat: 'SDJWT' })
  const { credential } = await credentialIn(pair.holder.call, thid, 'CredentialReceived')
  const [, payload] = Buffer.from(credential!, 'base64url').toString().split('.')
  expect(JSON.parse(Buffer.from(payload!, 'base64url').toString())).toHaveProperty('cnf')

  const other = await pair.offer()
  const { recordId } = await credentialIn(pair.holder.call, other.thid, 'OfferReceived')
  expect(await jobsOf(pair.agent, pair.holder, recordId)).toEqual([])
})

test('either side can set the rule when it connects, change it later, and read it', async () => {
  const agent = await sharedAgent()
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  const { longFormDid: subjectId } = await newDid(one, 'authentication')
  const { longFormDid: another } = await newDid(two, 'authentication')
  const first = { credentialOffers: true, subjectId } as const
  const made = await one.call('POST /connections', { body: { automaticAcceptance: first } })
  expect(made.automaticAcceptance).toEqual(first)
  const second = {
    credentialOffers: true as const,
    subjectId: another,
    schemaIds: ['https://schemas.example/a'],
  }
  const body = { invitation: oobOf(made), automaticAcceptance: second }
  const accepted = await two.call('POST /connection-invitations', { body })
  expect(accepted.automaticAcceptance).toEqual(second)
  expect((await connectionIn(two.call, made.thid, 'ConnectionResponseReceived')).automaticAcceptance).toEqual(
    second,
  )
  expect((await connectionIn(one.call, made.thid, 'ConnectionResponseSent')).automaticAcceptance).toEqual(
    first,
  )

  const before = await announced(agent, one, made.thid)
  const changed = await update(one, made.connectionId, {
    credentialOffers: true,
    subjectId,
    credentialFormats: ['JWT'],
  })
  expect(changed).toMatchObject({
    state: 'ConnectionResponseSent',
    automaticAcceptance: { credentialFormats: ['JWT'] },
  })
  const off = await update(one, made.connectionId, { credentialOffers: false })
  expect(off).not.toHaveProperty('automaticAcceptance')
  expect(off.updatedAt).toBe(changed.updatedAt)
  expect(await announced(agent, one, made.thid)).toEqual(before)
})

test('with a list of schemas, an offer of another schema, of several or of none needs manual acceptance', async () => {
  await using scene = await startWithIssuer(false)
  const { agent, tenant, connectionId, subjectId } = scene
  const [first, second, third] = ['a', 'b', 'c'].map((name) => `https://schemas.example/${name}`) as [
    string,
    string,
    string,
  ]
  await update(tenant, connectionId, { credentialOffers: true, subjectId, schemaIds: [first, second] })
  for (const preview of [{}, { schema_id: third }, { schema_ids: [first, third] }]) {
    const { recordId } = await credentialIn(tenant.call, await scene.offer(preview), 'OfferReceived')
    expect(await jobsOf(agent, tenant, recordId)).toEqual([])
  }
  for (const preview of [{ schema_id: first }, { schema_ids: [second, first] }]) {
    await credentialIn(tenant.call, await scene.offer(preview), 'RequestSent')
  }
})

test('a rule that can never accept an offer is refused, and no record is created', async () => {
  const agent = await sharedAgent()
  const [tenant, stranger] = [await agent.newTenant(), await agent.newTenant()]
  const { connectionId } = await tenant.call('POST /connections', { body: {} })
  const { did: issuing } = await newDid(tenant, 'assertionMethod')
  const { did: foreign } = await newDid(stranger, 'authentication')
  const { did: good } = await newDid(tenant, 'authentication')
  const cases: [terms: object, status: number, detail: string][] = [
    [{ credentialOffers: true }, 400, 'automaticAcceptance.subjectId'],
    [{ subjectId: good }, 400, 'automaticAcceptance.credentialOffers'],
    [{ credentialOffers: true, subjectId: issuing }, 400, 'Authentication key not found'],
    [{ credentialOffers: true, subjectId: foreign }, 404, foreign],
    [{ credentialOffers: true, subjectId: 'not a DID' }, 400, ''],
    [{ credentialOffers: true, subjectId: good, keyId: 'none' }, 400, 'none'],
    [{ credentialOffers: true, subjectId: good, credentialFormats: [] }, 400, ''],
    [{ credentialOffers: true, subjectId: good, schemaIds: [] }, 400, ''],
  ]
  for (const [terms, status, detail] of cases) {
    const automaticAcceptance = terms as Terms
    await expectRefusal(update(tenant, connectionId, automaticAcceptance), status, detail)
    await expectRefusal(tenant.call('POST /connections', { body: { automaticAcceptance } }), status, detail)
  }
  const { invitation } = await stranger.call('POST /connections', { body: {} })
  const body = {
    invitation: invitation.invitationUrl,
    automaticAcceptance: { credentialOffers: true, subjectId: foreign },
  }
  expect(await refusal(tenant.call('POST /connection-invitations', { body }))).toMatchObject({ status: 404 })
  expect(
    (await tenant.call('GET /connections')).contents.map(({ automaticAcceptance }) => automaticAcceptance),
  ).toEqual([undefined])
  expect(await refusal(update(stranger, connectionId, { credentialOffers: false }))).toMatchObject({
    status: 404,
  })
  await expectRefusal(
    tenant.call('PATCH /connections/{connectionId}', { path: { connectionId }, body: {} }),
    400,
    'automaticAcceptance',
  )
})

test('the record stores why automatic acceptance failed, and a manual acceptance or rejection works', async () => {
  await using scene = await startWithIssuer(true)
  const { agent, tenant, subjectId } = scene
  // Deactivates the DID in the database, without a ledger operation.
  await agent.agent.wallets.use(tenant.walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const { state } = await tx
        .selectFrom('did')
        .select('state')
        .where('did', '=', subjectId)
        .executeTakeFirstOrThrow()
      await tx
        .updateTable('did')
        .set({ state: JSON.stringify({ ...JSON.parse(state), deactivated: true }) })
        .where('did', '=', subjectId)
        .execute()
    }),
  )
  const thid = await scene.offer()
  await expect.poll(() => announced(agent, tenant, thid)).toEqual(['OfferReceived', 'OfferReceived'])
  const left = await credentialIn(tenant.call, thid, 'OfferReceived')
  expect(left.metaLastFailure).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/automatically: .*is deactivated/),
  })
  await expect.poll(() => jobsOf(agent, tenant, left.recordId)).toEqual([])

  const unwanted = await scene.offer()
  await expect.poll(() => announced(agent, tenant, unwanted)).toEqual(['OfferReceived', 'OfferReceived'])
  const { recordId } = await credentialIn(tenant.call, unwanted, 'OfferReceived')
  await tenant.call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
  expect(await credentialIn(tenant.call, unwanted, 'ProblemReportSent')).not.toHaveProperty('metaLastFailure')

  const { did } = await newDid(tenant, 'authentication')
  await acceptOfferWith(tenant, left.recordId, { subjectId: did })
  expect((await scene.party.next(typesOf.credentialRequest)).thid).toBe(thid)
})

test('an offer in an invitation is never accepted automatically', async () => {
  await using pair = await startAccepting()
  const { recordId } = await acceptOfferInvitation(pair.holder, oobOf(await offerByInvitation(pair.issuer)))
  expect(await jobsOf(pair.agent, pair.holder, recordId)).toEqual([])
})

test('a pending acceptance runs after a restart, unless the rule was removed meanwhile', async () => {
  await using scene = await startWithIssuer(true)
  const { agent, tenant, party, connectionId } = scene
  await agent.agent.worker[Symbol.asyncDispose]()
  const thid = await scene.offer()
  const { recordId } = await credentialIn(tenant.call, thid, 'OfferReceived')
  expect(await jobsOf(agent, tenant, recordId)).toHaveLength(1)
  // The worker comes from another copy of the program, whose commits the wallet does not notice.
  await agent.agent.wallets.use(tenant.walletId, (wallet) => Promise.resolve(wallet.disown()))
  const restart = async () => {
    const worker = createWorker(agent.agent.config, agent.agent.wallets, openLog('silent'))
    await worker.resume()
    return worker
  }
  {
    await using worker = await restart()
    expect((await party.next(typesOf.credentialRequest)).thid).toBe(thid)
    await credentialIn(tenant.call, thid, 'RequestSent')
    await until(
      'the end of the job',
      () => Promise.resolve(worker.busy()),
      (jobs) => jobs.length === 0,
    )
  }

  const other = await scene.offer()
  const { recordId: otherId } = await credentialIn(tenant.call, other, 'OfferReceived')
  await update(tenant, connectionId, { credentialOffers: false })
  await using worker = await restart()
  await until(
    'the end of the job',
    async () => [...(await jobsOf(agent, tenant, otherId)), ...worker.busy()],
    (jobs) => jobs.length === 0,
  )
  expect(await announced(agent, tenant, other)).toEqual(['OfferReceived'])
})
