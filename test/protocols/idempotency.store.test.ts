/** `Idempotency-Key`: requests with the same key create one offer. */
import { expect, test } from 'vitest'
import { refusal } from '../_tenants.ts'
import { startConnected } from '../flows/_steps.ts'

test('a repeated offer returns the first one, also at once, and another body is refused', async () => {
  await using pair = await startConnected()
  const { issuer, connectionId, issuingDID } = pair
  const offer = (key: string, claims: object, route = 'POST /issue-credentials/credential-offers' as const) =>
    issuer.call(route, {
      headers: { 'idempotency-key': key },
      body: { connectionId, issuingDID, claims: claims as { name: string } },
    })
  const both = await Promise.all(Array.from({ length: 10 }, () => offer('order-1', { name: 'Alice' })))
  expect(new Set(both.map(({ recordId }) => recordId)).size).toBe(1)
  const again = await offer('order-1', { name: 'Alice' })
  expect([again.recordId, again.thid]).toEqual([both[0]!.recordId, both[0]!.thid])
  expect(await refusal(offer('order-1', { name: 'Bob' }))).toMatchObject({
    status: 422,
    detail: expect.stringContaining('Idempotency-Key order-1 was used for a request with another body'),
  })
  expect((await offer('order-2', { name: 'Alice' })).recordId).not.toBe(again.recordId)
  expect((await issuer.call('GET /issue-credentials/records')).contents).toHaveLength(2)
  expect(await refusal(offer('with a space', { name: 'Alice' }))).toMatchObject({ status: 400 })

  const invite = () =>
    issuer.call('POST /issue-credentials/credential-offers/invitation', {
      headers: { 'idempotency-key': 'poster' },
      body: { issuingDID, claims: { name: 'Alice' } },
    })
  expect((await invite()).invitation).toEqual((await invite()).invitation)
})

test('keys of two tenants have nothing to do with each other', async () => {
  await using pair = await startConnected()
  const { issuer, holder, issuingDID, subject } = pair
  const invite = ({ call }: typeof issuer, did: string) =>
    call('POST /issue-credentials/credential-offers/invitation', {
      headers: { 'idempotency-key': 'same' },
      body: { issuingDID: did, claims: { name: 'Alice' } },
    })
  const mine = await invite(issuer, issuingDID)
  expect(await refusal(invite(holder, subject.did))).toMatchObject({ status: 400 })
  expect((await invite(issuer, issuingDID)).thid).toBe(mine.thid)
})
