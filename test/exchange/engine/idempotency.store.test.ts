/** `Idempotency-Key`: requests with the same key create one offer, one proof request, one invitation. */
import { expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { connection } from '../../../src/exchange/protocols/connection/model.ts'
import { createOnce } from '../../../src/exchange/engine/idempotency.ts'
import { presentationIn, refusal } from '../../support/tenants.ts'
import { startConnected } from '../../flows/_steps.ts'
import { addIssuer, codeOf, preAuthorizedGrant } from '../oid4vci/_wallet.ts'

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

test('a failure is reported as such, also if the wallet cannot be written to look for a faster request', async () => {
  await using pair = await startConnected()
  await pair.agent.agent.wallets.use(pair.issuer.walletId, async (wallet) => {
    await wallet.suspend(() => new Problem('error:InsufficientStorage', 'The disk is full.'))
    const create = () => Promise.reject(new Problem('BadRequest', 'The first reason.'))
    const created = createOnce(wallet, connection, { key: 'key', body: {} }, create)
    await expect(created).rejects.toThrow('The first reason.')
    wallet.resume()
  })
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

const dcqlQuery = {
  credentials: [
    { id: 'one', format: 'jwt_vc_json' as const, meta: { type_values: [['VerifiableCredential']] } },
  ],
}

test('a repeated proof request or invitation to connect returns the first one, also at once, and another body is refused', async () => {
  await using pair = await startConnected()
  const { issuer, holder, connectionId } = pair
  const { call } = issuer
  const headers = { 'idempotency-key': 'once' }
  const makers: Record<string, (name: string) => Promise<{ thid: string }>> = {
    connection: (label) => call('POST /connections', { headers, body: { label } }),
    request: (goal) => call('POST /present-proof/presentations', { headers, body: { connectionId, goal } }),
    invitation: (goal) =>
      call('POST /present-proof/presentations/invitation', {
        headers: { 'idempotency-key': 'by-invitation' },
        body: { goal },
      }),
    openid4vp: (redirect) =>
      call('POST /present-proof/presentations/openid4vp', {
        headers: { 'idempotency-key': 'by-openid4vp' },
        body: { issuers: 'any', dcqlQuery, redirectUri: `https://shop.example/${redirect}` },
      }),
  }
  for (const [name, make] of Object.entries(makers)) {
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => make('one')))
    for (const { thid } of [...others, await make('one')]) expect(thid, name).toBe(first!.thid)
    expect(await refusal(make('another')), name).toMatchObject({ status: 422 })
  }
  expect((await call('GET /connections')).contents).toHaveLength(2)
  expect((await call('GET /present-proof/presentations')).contents).toHaveLength(3)
  const { thid } = await makers['request']!('one')
  await presentationIn(holder.call, thid, 'RequestReceived')
  expect((await holder.call('GET /present-proof/presentations')).contents).toHaveLength(1)

  // The other side sees this id, so it must not be that of another wallet with the same key.
  const other = await holder.call('POST /connections', { headers, body: { label: 'one' } })
  expect(other.thid).not.toBe((await makers['connection']!('one')).thid)
})

test('a repeated offer over OpenID4VCI returns the first one with its secrets, until it is redeemed', async () => {
  await using pair = await startConnected()
  const setup = await addIssuer(pair.agent, pair.issuer)
  const { issuerId, issuingDID } = setup
  const offer = (key: string, more: { txCode?: boolean; byReference?: boolean } = {}) =>
    pair.issuer.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
      headers: { 'idempotency-key': key },
      path: { issuerId },
      body: { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'Alice' }, ...more },
    })
  for (const [key, more] of [
    ['plain', {}],
    ['with-code', { txCode: true }],
    ['by-reference', { byReference: true }],
  ] as const) {
    const [first, ...others] = await Promise.all(Array.from({ length: 3 }, () => offer(key, more)))
    for (const again of [...others, await offer(key, more)]) expect(again).toEqual(first)
  }
  expect(await refusal(offer('plain', { txCode: true }))).toMatchObject({ status: 422 })
  expect((await pair.issuer.call('GET /issue-credentials/records')).contents).toHaveLength(3)

  const { credentialOffer, recordId } = await offer('plain')
  const code = await codeOf(credentialOffer)
  const token = await fetch(`${setup.identifier}/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: preAuthorizedGrant, 'pre-authorized_code': code }),
  })
  expect(token.status).toBe(200)
  expect(await refusal(offer('plain'))).toMatchObject({
    status: 409,
    detail: expect.stringContaining(recordId),
  })
})
