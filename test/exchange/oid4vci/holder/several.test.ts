/** The holder receives several credentials of one offer: one consent, one token, a record for each. */
import { describe, expect, test } from 'vitest'
import { refusal, type Tenant } from '../../../support/tenants.ts'
import { untilEnd } from '../../../support/shared.ts'
import { accept, consentAt, inState, receive, show, startHolderPair } from './_holder.ts'

const pair = await untilEnd(startHolderPair())
const { setup, holder } = pair
const { tenant, issuerId, issuingDID } = setup

const person = { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'Alice' } }
const licence = (number: string) => ({
  credentialConfigurationId: 'Licence',
  issuingDID,
  claims: { name: 'Alice', number },
})
const offer = (credentials: object[], more: object = {}) =>
  tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path: { issuerId },
    body: { credentials, ...more } as never,
  })

/** The records of an offer in their order. */
async function recordsOf({ call }: Tenant, thid: string) {
  const { contents } = await call('GET /issue-credentials/records', { query: { thid } })
  return contents
}

/** Waits until all records of an offer have their credential. */
async function allReceived(of: Tenant, thid: string, count: number) {
  const records = await recordsOf(of, thid)
  expect(records).toHaveLength(count)
  for (const { recordId } of records) await inState(of, recordId, 'CredentialReceived')
  return recordsOf(of, thid)
}

/** The consent of the person at the issuer. */
async function authorize(recordId: string, decision: 'accept' | 'decline' = 'accept') {
  const path = { recordId }
  const redirectUri = 'http://127.0.0.1:1/callback'
  const begun = await holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path,
    body: { redirectUri },
  })
  const body = await consentAt(setup, begun, { decision })
  await holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', { path, body })
}

test('a person and two licences: two records become three, and one acceptance gets all', async () => {
  const { credentialOffer, records } = await offer([person, licence('L-1'), licence('L-2')])
  const { recordId, thid } = await receive(holder, credentialOffer)
  const received = await recordsOf(holder, thid)
  expect(received.map(({ openid4vci }) => openid4vci!.credentialConfigurationId)).toEqual([
    'Person',
    'Licence',
  ])
  expect(received[0]!.recordId).toBe(recordId)
  expect((await receive(holder, credentialOffer)).recordId).toBe(recordId)
  // Of any of its records.
  await accept(holder, received[1]!.recordId)
  const all = await allReceived(holder, thid, 3)
  expect(all.map(({ claims }) => claims)).toEqual([
    expect.objectContaining({ name: 'Alice' }),
    expect.objectContaining({ number: 'L-1' }),
    expect.objectContaining({ number: 'L-2' }),
  ])
  for (const { recordId: id } of records) {
    const { protocolState } = await tenant.call('GET /issue-credentials/records/{recordId}', {
      path: { recordId: id },
    })
    expect(protocolState).toBe('CredentialSent')
  }
})

test('with one consent at the issuer', async () => {
  const { credentialOffer } = await offer([person, licence('L-3')], {
    grant: 'authorization_code',
    txCode: false,
  })
  const { recordId, thid } = await receive(holder, credentialOffer)
  await authorize(recordId)
  await allReceived(holder, thid, 2)
})

test('what the person refuses at the issuer ends all records', async () => {
  const { credentialOffer } = await offer([person, licence('L-4')], {
    grant: 'authorization_code',
    txCode: false,
  })
  const { recordId, thid } = await receive(holder, credentialOffer)
  await authorize(recordId, 'decline')
  for (const record of await recordsOf(holder, thid)) expect(record.protocolState).toBe('IssuanceFailed')
})

test('some of the credentials, by name or by rejecting one', async () => {
  const first = await offer([person, licence('L-5')])
  const only = await receive(holder, first.credentialOffer, { credentialConfigurationIds: ['Licence'] })
  expect(await recordsOf(holder, only.thid)).toHaveLength(1)
  await accept(holder, only.recordId)
  await allReceived(holder, only.thid, 1)

  const second = await offer([person, licence('L-6')])
  const { recordId, thid } = await receive(holder, second.credentialOffer)
  await holder.call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
  const [, other] = await recordsOf(holder, thid)
  await accept(holder, other!.recordId)
  await inState(holder, other!.recordId, 'CredentialReceived')
  expect((await show(holder, recordId)).protocolState).toBe('OfferRejected')
})

test('one is deferred, the other is not', async () => {
  const { credentialOffer, records } = await offer([person, { ...licence('L-7'), automaticIssuance: false }])
  const { recordId, thid } = await receive(holder, credentialOffer)
  await accept(holder, recordId)
  const [first, second] = await recordsOf(holder, thid)
  await inState(holder, first!.recordId, 'CredentialReceived')
  await inState(holder, second!.recordId, 'CredentialDeferred')
  await tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', {
    path: { recordId: records[1]!.recordId },
  })
  await inState(holder, second!.recordId, 'CredentialReceived')
})

test('two acceptances at once, of two records, redeem the code once', async () => {
  const { credentialOffer } = await offer([person, licence('L-8')])
  const { thid } = await receive(holder, credentialOffer)
  const [first, second] = await recordsOf(holder, thid)
  const accepted = await Promise.all([first!, second!].map(({ recordId }) => accept(holder, recordId)))
  expect(accepted.map(({ recordId }) => recordId)).toEqual([first!.recordId, second!.recordId])
  await allReceived(holder, thid, 2)
})

describe('the request', () => {
  test('names one credential or several, not both', async () => {
    const { credentialOffer } = await offer([person, licence('L-9')])
    const names = { credentialConfigurationId: 'Person', credentialConfigurationIds: ['Person'] }
    expect(await refusal(receive(holder, credentialOffer, names))).toMatchObject({
      status: 400,
      detail: expect.stringContaining('exclude each other'),
    })
  })
})
