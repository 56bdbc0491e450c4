/** A daemon that dies during a request of a wallet: the wallet repeats the request, and one offer issues once. */
import { expect, test } from 'vitest'
import { Daemon } from '../../support/daemon.ts'
import { ask } from '../../support/ask.ts'
import { openReceiver } from '../../support/receiver.ts'
import { credentialIn, newDid } from '../../support/tenants.ts'
import { addSource, filled, openSource } from './_claims-source.ts'
import { addWebhook, mail, messageOf, phone, press } from './_delivery.ts'
import { countIssued, killable, killDuring } from './_killed.ts'
import { addIssuer, fetchDeferred, offer, prove, recordOf, redeemOffer, request } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const daemon = await untilEnd(Daemon.start(killable))
const setup = await addIssuer(daemon, await daemon.newTenant('issuer'))

// The first credential of a DID also creates its status list, in a transaction of its own.
test.each([
  ['commit:before', 1],
  ['commit:before', 2],
  ['commit:after', 1],
  ['commit:after', 2],
])('the request of a credential is killed at %s %i', async (point, nth) => {
  const { did: issuingDID } = await newDid(setup.tenant, 'assertionMethod')
  const { credentialOffer, recordId } = await offer({ ...setup, issuingDID })
  const { body } = await redeemOffer(setup, credentialOffer)
  const jwt = await prove(setup)
  const send = () => request(setup, { token: body.access_token, jwt })
  expect(await killDuring(daemon, [point, nth], send)).toBe(true)
  const reply = await send()
  expect([reply.status, reply.body.credentials?.length]).toEqual([200, 1])
  expect((await send()).body).toEqual(reply.body)
  expect(await countIssued(setup, recordId)).toBe(1)
})

test('a code whose redemption was not committed can be redeemed again', async () => {
  const { credentialOffer } = await offer(setup)
  expect(await killDuring(daemon, ['commit:before', 1], () => redeemOffer(setup, credentialOffer))).toBe(true)
  expect((await redeemOffer(setup, credentialOffer)).status).toBe(200)
})

test('a code whose redemption was committed cannot be redeemed again, and issues nothing', async () => {
  const { credentialOffer, recordId } = await offer(setup)
  expect(await killDuring(daemon, ['commit:after', 1], () => redeemOffer(setup, credentialOffer))).toBe(true)
  expect((await redeemOffer(setup, credentialOffer)).body.error).toBe('invalid_grant')
  expect(await countIssued(setup, recordId)).toBe(0)
})

test.each(['commit:before', 'commit:after'])(
  'each step of a deferred issuance is killed at %s',
  async (point) => {
    const { credentialOffer, recordId } = await offer(setup, { automaticIssuance: false })
    const { access_token: token } = (await redeemOffer(setup, credentialOffer)).body
    const jwt = await prove(setup)
    const approval = { path: { recordId } }
    const steps = [
      () => request(setup, { token, jwt }),
      () => setup.tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', approval),
      () => fetchDeferred(setup, token, recordId),
    ]
    for (const step of steps) {
      expect(await killDuring(daemon, [point, 1], step)).toBe(true)
      await step()
    }
    const { status, body } = await fetchDeferred(setup, token, recordId)
    expect([status, body.credentials.length, await countIssued(setup, recordId)]).toEqual([200, 1, 1])
  },
)

/** A redeemed offer of an employee whose other claims come from a source. */
async function offerOfSource(url: string, issuingDID = setup.issuingDID) {
  const { configurationId } = await addSource(setup, url)
  const options = { credentialConfigurationId: configurationId, claims: { employeeId: '7' }, issuingDID }
  const { credentialOffer, recordId } = await offer(setup, options)
  const { access_token: token } = (await redeemOffer(setup, credentialOffer)).body
  const jwt = [await prove(setup)]
  const body = { credential_configuration_id: configurationId, proofs: { jwt } }
  return { recordId, token, take: () => request(setup, { token, body }) }
}

// The first commit is that of the status list of a new DID.
test.each([
  ['commit:before', 1, 2],
  ['commit:before', 2, 2],
  ['commit:after', 2, 1],
])(
  'a request whose claims come from a source is killed at %s %i, and the source is asked for the same need',
  async (point, nth, asked) => {
    await using source = await openSource(filled({ department: 'Sales' }))
    const { did } = await newDid(setup.tenant, 'assertionMethod')
    const { recordId, take } = await offerOfSource(source.url, did)
    expect(await killDuring(daemon, [point, nth], take)).toBe(true)
    const reply = await take()
    expect([reply.status, reply.body.credentials?.length]).toEqual([200, 1])
    expect(source.ids()).toEqual(Array.from({ length: asked }, () => recordId))
    expect(await countIssued(setup, recordId)).toBe(1)
  },
)

test('a job that asks a source is killed before its commit, and asks again for the same need', async () => {
  await using source = await openReceiver((response, count) => {
    const reply = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body))
    if (count === 1) return reply(202, { retryAfter: 1 })
    const claims = { claims: { department: 'Sales' } }
    if (count > 2) return reply(200, claims)
    void daemon
      .exchange({ type: 'kill', kill: { point: 'commit:before', nth: 1 } })
      .then(() => reply(200, claims))
  })
  const { recordId, token, take } = await offerOfSource(source.url)
  expect((await take()).status).toBe(202)
  await daemon.ended
  await daemon.start()
  const { thid } = await recordOf(setup, recordId)
  await credentialIn(setup.tenant.call, thid, 'RequestApproved')
  const ids = source.requests.map(({ headers }) => headers['webhook-id'])
  expect(ids).toEqual([recordId, recordId, recordId])
  expect((await fetchDeferred(setup, token, recordId)).status).toBe(200)
  expect(await countIssued(setup, recordId)).toBe(1)
})

test.each(['commit:before', 'commit:after'])('an offer that is delivered is killed at %s', async (point) => {
  await using sender = await addWebhook(setup.tenant, true)
  const { issuerId, issuingDID, tenant } = setup
  const key = `POST /oid4vci/issuers/${issuerId}/credential-offers`
  const deliver = { to: mail, code: phone }
  const body = { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'Alice' }, deliver }
  const headers = { 'idempotency-key': `delivered-${point.replace(':', '-')}` }
  // The client would repeat the request by itself.
  const send = () => ask(daemon, key, { headers, body, apiKey: tenant.apiKey })
  expect(await killDuring(daemon, [point, 1], send)).toBe(true)
  const { recordId, txCode } = (await send()).body
  expect(txCode).toBeUndefined()
  const link = await messageOf(sender, 'OfferDeliveryRequested', recordId)
  const code = await messageOf(sender, 'TransactionCodeDeliveryRequested', recordId)
  const { link: wallet } = await press(link.data['url']!)
  expect((await redeemOffer(setup, wallet!, code.data['code'])).status).toBe(200)
  const messages = sender.events.filter(({ type }) => type.endsWith('DeliveryRequested'))
  expect(messages.map(({ id }) => id)).toEqual([link.id, code.id])
  await setup.tenant.call('DELETE /events/webhooks/{id}', { path: { id: sender.id } })
})
