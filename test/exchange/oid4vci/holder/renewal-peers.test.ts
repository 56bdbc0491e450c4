/** The wallet renews credentials of the issuer of this project: with DPoP, of each format, and of one offer. */
import { expect, test } from 'vitest'
import { untilEnd } from '../../../support/shared.ts'
import { rewriteRows } from '../../../support/rewrite-rows.ts'
import { until } from '../../../support/tenants.ts'
import { addSource, filled, openSource } from '../_claims-source.ts'
import { setRenewal } from '../_renewal.ts'
import { changeGrant } from '../_scene.ts'
import { recordOf } from '../_wallet.ts'
import { accept, consentAt, inState, licence, receive, show, startHolderPair, take } from './_holder.ts'
import { refresh, renewalOf, renewed } from './_refresh.ts'

const pair = await untilEnd(startHolderPair())
const { setup, holder } = pair
const { tenant, issuerId, issuingDID } = setup
for (const credentialConfigId of ['Person', 'Licence'])
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId, credentialConfigId },
    body: { renewal: { days: 90 } },
  })

test.each([{}, licence])('a credential of %j is renewed three times', async (options) => {
  const { recordId, issuerRecordId } = await take(pair, { ...options, txCode: false })
  const first = await inState(holder, recordId, 'CredentialReceived')
  expect(renewalOf(first).state).toBe('possible')
  for (let count = 1; count <= 3; count++) {
    await refresh(holder, recordId, count)
    const record = await renewed(holder, recordId, count)
    expect(renewalOf(record)).toMatchObject({ state: 'possible', count })
    expect(record.credential).not.toBe(first.credential)
    expect(record.claims).toEqual(first.claims)
  }
  expect((await recordOf(setup, issuerRecordId)).protocolState).toBe('CredentialSent')
})

test('two credentials of one consent are renewed in turn', async () => {
  const { credentialOffer } = await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path: { issuerId },
    body: {
      credentials: [
        { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'Alice' } },
        { ...licence, issuingDID },
      ],
      grant: 'authorization_code',
      txCode: false,
    } as never,
  })
  const { recordId, thid } = await receive(holder, credentialOffer)
  const path = { recordId }
  const begun = await holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path,
    body: { redirectUri: 'http://127.0.0.1:1/callback' },
  })
  const body = await consentAt(setup, begun)
  await holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', { path, body })
  const { contents } = await holder.call('GET /issue-credentials/records', { query: { thid } })
  for (const each of contents) await inState(holder, each.recordId, 'CredentialReceived')
  for (let count = 1; count <= 2; count++) {
    // Both at once.
    await Promise.all(contents.map((each) => refresh(holder, each.recordId)))
    for (const each of contents)
      expect(renewalOf(await renewed(holder, each.recordId, count))).toMatchObject({
        state: 'possible',
        count,
      })
  }
})

test('an issuer that ends the renewal: the credential stays, and a person is needed', async () => {
  const { recordId, issuerRecordId } = await take(pair, { txCode: false })
  const first = await inState(holder, recordId, 'CredentialReceived')
  await tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuerRecordId } })
  await refresh(holder, recordId)
  const record = await renewed(holder, recordId)
  expect(renewalOf(record)).toMatchObject({
    state: 'needs-you',
    reason: expect.stringContaining('invalid_grant'),
  })
  expect((await show(holder, recordId)).credential).toBe(first.credential)
})

test('an issuer without renewal gives no refresh token', async () => {
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId, credentialConfigId: 'Person' },
    body: { renewal: null },
  })
  const { credentialOffer } = await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path: { issuerId },
    body: { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'Alice' }, txCode: false },
  })
  const { recordId } = await receive(holder, credentialOffer)
  await accept(holder, recordId)
  expect(renewalOf(await inState(holder, recordId, 'CredentialReceived')).state).toBe('none')
})

test.each(['the token of the request', 'a newer token'])(
  'the claims source decides later, and the wallet fetches the credential with %s',
  async (by) => {
    await using source = await openSource(filled({ department: 'Sales' }))
    const { configurationId } = await addSource(setup, source.url)
    await setRenewal(setup, { days: 90 }, configurationId)
    const claims = { employeeId: '7' }
    const options = { credentialConfigurationId: configurationId, claims, txCode: false }
    const { recordId, issuerRecordId } = await take(pair, options)
    const first = await inState(holder, recordId, 'CredentialReceived')
    source.answers({ status: 202, body: { retryAfter: 1 } }, filled({ department: 'Law' }))
    await refresh(holder, recordId)
    const renewing = () => storedIn(recordId, (data) => data.receivedOffer.renewing)
    await until('the transaction', renewing, (found) => found?.transactionId === issuerRecordId)
    if (by === 'a newer token')
      await storedIn(recordId, (data) => (data.receivedOffer.renewing.tokenUntilMs = 1))
    const record = await renewed(holder, recordId)
    expect(renewalOf(record)).toMatchObject({ state: 'possible', count: 1 })
    expect(record.credential).not.toBe(first.credential)
    expect(record.claims).toMatchObject({ employeeId: '7', department: 'Law' })
    const notified = await until(
      'the notification',
      () => recordOf(setup, issuerRecordId),
      ({ notification }) => notification !== undefined,
    )
    expect(notified).toMatchObject({ renewed: { count: 1 }, notification: { event: 'credential_accepted' } })
  },
)

test('a request that is repeated after the short time of its token has a new one', async () => {
  await using source = await openSource(filled({ department: 'Sales' }))
  const { configurationId } = await addSource(setup, source.url, { onFailure: 'fail' })
  await setRenewal(setup, { days: 90 }, configurationId)
  const claims = { employeeId: '7' }
  const options = { credentialConfigurationId: configurationId, claims, txCode: false }
  const { recordId, issuerRecordId } = await take(pair, options)
  await inState(holder, recordId, 'CredentialReceived')
  source.answers({ status: 503, headers: { 'retry-after': '2' } })
  await refresh(holder, recordId)
  await source.arrived(3)
  source.answers(filled({ department: 'Law' }))
  await storedIn(recordId, (data) => (data.receivedOffer.renewing.tokenAtMs = 1))
  await changeGrant({ agent: setup.agent, setup }, issuerRecordId, { tokensEnd: new Date(0).toISOString() })
  const record = await renewed(holder, recordId)
  expect(renewalOf(record)).toMatchObject({ state: 'possible', count: 1 })
  expect(record.claims).toMatchObject({ department: 'Law' })
})

/** Reads or changes the stored data of a record of the wallet. */
const storedIn = <T>(recordId: string, use: (data: any) => T): Promise<T> =>
  pair.agent.agent.wallets.use(holder.walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const records = tx.selectFrom('record').select('data').where('id', '=', recordId)
      const data = JSON.parse((await records.executeTakeFirstOrThrow()).data)
      const before = JSON.stringify(data)
      const result = use(data)
      const after = JSON.stringify(data)
      if (after !== before)
        await tx.updateTable('record').set({ data: after }).where('id', '=', recordId).execute()
      return result
    }),
  )
