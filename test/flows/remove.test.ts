/** Removing records with their jobs and DIDs. Data that others rely on stays. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { enqueue } from '../../src/wallet/outbox/job.ts'
import { acceptOffer, offerByInvitation, acceptOfferInvitation } from '../support/invitation.ts'
import {
  credentialIn,
  oobOf,
  presentationIn,
  refusal,
  startPair,
  until,
  type Tenant,
} from '../support/tenants.ts'
import { rewriteRows } from '../support/rewrite-rows.ts'
import { isRevoked, present } from './_revocation.ts'
import { failureOf, prove, readCredential, requestProof, startWithCredential } from './_steps.ts'

const removeCredential = ({ call }: Tenant, recordId: string) =>
  call('DELETE /issue-credentials/records/{recordId}', { path: { recordId } })
const removeProof = ({ call }: Tenant, presentationId: string) =>
  call('DELETE /present-proof/presentations/{presentationId}', { path: { presentationId } })
const revoke = ({ call }: Tenant, id: string) =>
  call('PATCH /credential-status/revoke-credential/{id}', { path: { id } })

const wrongState = { status: 400, type: 'error:CredentialServiceError:InvalidStateForOperation' }

/** A connected pair with a credential, which the issuer knows to be delivered. */
async function startIssued(variables?: Record<string, string>) {
  const pair = await startWithCredential(variables)
  await credentialIn(pair.issuer.call, pair.thid, 'CredentialSent')
  return pair
}

/** The rows of a wallet for a record. */
const left = ({ agent }: Awaited<ReturnType<typeof startPair>>, { walletId }: Tenant, id: string) =>
  agent.agent.wallets.use(walletId, async ({ db }) => ({
    records: await db.selectFrom('record').select('id').where('id', '=', id).execute(),
    credentials: await db.selectFrom('credential').select('id').where('id', '=', id).execute(),
    dids: await db.selectFrom('peer_did').select('did').where('record_id', '=', id).execute(),
    jobs: (await db.selectFrom('job').select('queue').execute()).filter(({ queue }) => queue.endsWith(id)),
    statusEntries: await db
      .selectFrom('status_entry')
      .select('revoked_at')
      .where('record_id', '=', id)
      .execute(),
  }))
/** Adds a job to each queue, due far in the future. */
const addJobs = (
  { agent }: Awaited<ReturnType<typeof startPair>>,
  { walletId }: Tenant,
  ...queues: string[]
) =>
  agent.agent.wallets.use(walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      for (const queue of queues)
        await enqueue(tx, queue, {
          kind: 'task',
          protocol: 'issue-credential',
          recordId: 'none',
          task: 'credential',
        })
      await tx
        .updateTable('job')
        .set({ due_at: '2099-01-01T00:00:00.000Z' })
        .where('queue', 'in', queues)
        .execute()
    }),
  )
const nothing = { records: [], credentials: [], dids: [], jobs: [], statusEntries: [] }

test('removing the holder’s record also deletes its credential, once', async () => {
  await using pair = await startIssued()
  const { issuer, holder, recordId, connectionId } = pair
  expect(await removeCredential(holder, recordId)).toBeUndefined()
  expect(await left(pair, holder, recordId)).toEqual(nothing)
  expect(await refusal(removeCredential(holder, recordId))).toMatchObject({
    status: 404,
    type: 'error:CredentialServiceError:RecordNotFound',
  })
  const { presentationId } = await requestProof(issuer, holder, { connectionId })
  expect(await refusal(prove(holder, presentationId, recordId))).toMatchObject({ status: 404 })
  // The issuer still has its own record.
  await credentialIn(issuer.call, pair.thid, 'CredentialSent')
})

test('the issuer’s record of a valid credential stays until revocation, and its status list index stays revoked', async () => {
  await using pair = await startIssued()
  const { issuer, holder, issuerRecordId, recordId, credential } = pair
  const stranger = await pair.agent.newTenant('stranger')
  expect(await refusal(removeCredential(issuer, issuerRecordId))).toMatchObject({
    ...wrongState,
    detail: expect.stringContaining('Revoke it first'),
  })
  expect(await refusal(removeCredential(stranger, issuerRecordId))).toMatchObject({ status: 404 })
  // The queued revocation notice is not deleted with the record.
  await addJobs(pair, issuer, `record:${issuerRecordId}`)
  await revoke(issuer, issuerRecordId)
  await removeCredential(issuer, issuerRecordId)
  await until(
    'the revocation notice',
    () => readCredential(holder, recordId),
    (record) => record.revoked === true,
  )
  await until(
    'the deletion of the notice',
    () => left(pair, issuer, issuerRecordId),
    ({ jobs }) => jobs.length === 0,
  )
  expect(await left(pair, issuer, issuerRecordId)).toEqual({
    ...nothing,
    statusEntries: [{ revoked_at: expect.any(String) }],
  })
  expect(await isRevoked(credential)).toBe(true)
})

test('the issuer’s record can be removed without a credential, or after its expiry', async () => {
  await using pair = await startIssued({ CREDENTIAL_LEEWAY: '0' })
  const { issuer, holder, connectionId, issuingDID } = pair
  const offer = (more: object = {}) =>
    issuer.call('POST /issue-credentials/credential-offers', {
      body: { connectionId, issuingDID, claims: { a: 1 }, automaticIssuance: true, ...more },
    })
  const open = await offer()
  const { recordId } = await credentialIn(holder.call, open.thid, 'OfferReceived')
  await removeCredential(issuer, open.recordId)
  expect(await left(pair, issuer, open.recordId)).toEqual(nothing)
  await acceptOffer(holder, recordId)
  await failureOf(holder, recordId)

  // Times have whole seconds: the credential expires immediately.
  const brief = await offer({ validityPeriod: 0.5 })
  await acceptOffer(holder, (await credentialIn(holder.call, brief.thid, 'OfferReceived')).recordId)
  await until(
    'the creation of the credential',
    () => readCredential(issuer, brief.recordId),
    ({ credential }) => credential !== undefined,
  )
  await removeCredential(issuer, brief.recordId)
  expect(await left(pair, issuer, brief.recordId)).toEqual({
    ...nothing,
    statusEntries: [{ revoked_at: null }],
  })
})

test('removing a record that began with an invitation removes its DID and jobs, and the invitation can be accepted again', async () => {
  await using pair = await startPair()
  const { issuer, holder } = pair
  const made = await offerByInvitation(issuer)
  const taken = await acceptOfferInvitation(holder, oobOf(made))
  expect((await left(pair, holder, taken.recordId)).dids).toHaveLength(1)
  await addJobs(pair, holder, `record:${taken.recordId}`, `notices:${taken.recordId}`, 'notices:another')
  await removeCredential(holder, taken.recordId)
  expect(await left(pair, holder, taken.recordId)).toEqual(nothing)
  const jobs = await pair.agent.agent.wallets.use(holder.walletId, ({ db }) =>
    db.selectFrom('job').select('queue').execute(),
  )
  expect(jobs).toEqual([{ queue: 'notices:another' }])

  const again = await acceptOfferInvitation(holder, oobOf(made))
  await acceptOffer(holder, again.recordId)
  await credentialIn(holder.call, made.thid, 'CredentialReceived')
})

test('presentations can be removed in any state and on either side', async () => {
  await using pair = await startIssued()
  const { issuer, holder, connectionId, recordId } = pair
  const thid = await present(issuer, holder, { connectionId }, recordId)
  const [asked, shown] = [
    await presentationIn(issuer.call, thid, 'PresentationVerified'),
    await presentationIn(holder.call, thid, 'PresentationSent'),
  ]
  expect(await refusal(removeProof(holder, asked.presentationId))).toMatchObject({ status: 404 })
  expect(await removeProof(holder, shown.presentationId)).toBeUndefined()
  await removeProof(issuer, asked.presentationId)
  for (const [tenant, id] of [
    [issuer, asked.presentationId],
    [holder, shown.presentationId],
  ] as const) {
    expect(await left(pair, tenant, id)).toEqual(nothing)
    expect(await refusal(removeProof(tenant, id))).toMatchObject({
      status: 404,
      type: 'error:PresentationError:RecordIdNotFound',
    })
  }
  expect(await refusal(removeProof(holder, randomUUID()))).toMatchObject({ status: 404 })
  // A credential's record is not a presentation.
  expect(await refusal(removeProof(holder, recordId))).toMatchObject({ status: 404 })
  expect((await left(pair, holder, recordId)).credentials).toHaveLength(1)
})

test('a credential with a pending presentation stays until that is created', async () => {
  await using pair = await startIssued()
  const { issuer, holder, connectionId, recordId } = pair
  const thid = await present(issuer, holder, { connectionId }, recordId)
  const { presentationId } = await presentationIn(holder.call, thid, 'PresentationSent')
  const move = (state: string) =>
    pair.agent.agent.wallets.use(holder.walletId, (wallet) =>
      rewriteRows(wallet, (tx) =>
        tx.updateTable('record').set({ state }).where('id', '=', presentationId).execute(),
      ),
    )
  await move('PresentationPending')
  expect(await refusal(removeCredential(holder, recordId))).toMatchObject({
    ...wrongState,
    detail: expect.stringContaining(presentationId),
  })
  await move('PresentationSent')
  await removeCredential(holder, recordId)
})
