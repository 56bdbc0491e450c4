/** Renewals whose claims source takes its time: the wallet fetches the credential later (VCI §9). */
import { expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { untilEnd } from '../../support/shared.ts'
import { addSource, filled, openSource, type Scripted, type SourceSettings } from './_claims-source.ts'
import { after, type Held, renewalsOf, setRenewal } from './_renewal.ts'
import { changeGrant } from './_scene.ts'
import { errorOf, prove, recordOf, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { tenant } = setup
const { askAgain, entries, fetchDeferred, notify, redeemed, refresh, take } = renewalsOf(setup)

const [later, down, sales, law] = [
  { status: 202, body: { retryAfter: 3_600 } },
  { status: 503 },
  filled({ department: 'Sales' }),
  filled({ department: 'Law' }),
]

/** A wallet with a credential and a refreshed token. The source gives the other answers then. */
async function start(scripted: Scripted[], settings: SourceSettings = {}, onChange?: 'revoke') {
  const source = await openSource(sales)
  const { configurationId } = await addSource(setup, source.url, settings)
  await setRenewal(setup, { days: 90, ...(onChange && { onChange }) }, configurationId)
  const held = await redeemed({ credentialConfigurationId: configurationId, claims: { employeeId: '7' } })
  expect((await take(held)).status).toBe(200)
  source.answers(...scripted)
  const own = after(held, await refresh(held))
  const { recordId } = held
  return {
    source,
    held,
    own,
    fetch: (by: Held = own) => fetchDeferred(by, recordId),
    record: () => recordOf(setup, recordId),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  }
}

const credentialsIn = ({ body }: { body: any }) =>
  (body.credentials as { credential: string }[]).map(({ credential }) => decodeJwtVc(credential))
const refreshes = (all: any[]) => all.filter(({ purpose }) => purpose === 'refresh').length

test('the wallet fetches the credential for the keys of its request', async () => {
  await using flow = await start([later, law])
  const before = await flow.record()
  const keys = [generateKey('P-256'), generateKey('P-256')]
  const waits = await take(flow.own, ...(await Promise.all(keys.map((key) => prove(setup, { key })))))
  expect([waits.status, waits.body]).toEqual([202, { transaction_id: flow.held.recordId, interval: 300 }])
  const { protocolState, credential, renewed, metaLastFailure } = await flow.record()
  expect([protocolState, credential, renewed, metaLastFailure]).toEqual([
    'CredentialSent',
    before.credential,
    undefined,
    undefined,
  ])
  // Not before the time that the source has named.
  expect([(await flow.fetch()).status, refreshes(flow.source.asked())]).toEqual([202, 1])
  await askAgain(flow.held.recordId)
  const fetched = await flow.fetch()
  expect(fetched.status).toBe(200)
  expect(credentialsIn(fetched).map(({ claims }) => claims)).toMatchObject([
    { employeeId: '7', department: 'Law' },
    { employeeId: '7', department: 'Law' },
  ])
  const done = await flow.record()
  expect([done.protocolState, done.renewed?.count, done.claims['department']]).toEqual([
    'CredentialSent',
    1,
    'Law',
  ])
  expect(done.instances).toHaveLength(3)
  const [, first, second] = flow.source.ids()
  expect(second).toBe(first)
  expect((await flow.fetch()).body).toEqual(fetched.body)
  expect((await notify(flow.own, 'credential_accepted')).status).toBe(204)
  expect(errorOf(await flow.fetch())).toEqual([400, 'invalid_transaction_id'])
})

test('a repeat of the request waits with it, and one for other keys is refused', async () => {
  await using flow = await start([later, law])
  const jwt = await prove(setup)
  const asked = [await take(flow.own, jwt), await take(flow.own, jwt)]
  expect(asked.map(({ status }) => status)).toEqual([202, 202])
  expect(errorOf(await take(flow.own))).toEqual([400, 'credential_request_denied'])
  expect(refreshes(flow.source.asked())).toBe(1)
  await askAgain(flow.held.recordId)
  const fetched = await flow.fetch()
  expect((await take(flow.own, jwt)).body.credentials).toEqual(fetched.body.credentials)
})

test('the same request and the same question at once are one', async () => {
  await using flow = await start([later, law])
  const jwt = await prove(setup)
  const asked = await Promise.all([take(flow.own, jwt), take(flow.own, jwt)])
  expect(asked.map(({ status }) => status)).toEqual([202, 202])
  flow.source.answers(law)
  await askAgain(flow.held.recordId)
  const [one, other] = await Promise.all([flow.fetch(), flow.fetch()])
  expect(one.status).toBe(200)
  expect(other.body).toEqual(one.body)
  expect((await flow.record()).renewed?.count).toBe(1)
})

test('a newer refreshed token fetches it too, the first one does not', async () => {
  await using flow = await start([later, law])
  await take(flow.own)
  const newer = after(flow.own, await refresh(flow.own))
  await askAgain(flow.held.recordId)
  expect((await flow.fetch(flow.held)).status).toBeGreaterThanOrEqual(400)
  expect((await flow.fetch(newer)).status).toBe(200)
  expect((await notify(newer, 'credential_accepted')).status).toBe(204)
})

test('a new request takes the place of the deferred one', async () => {
  await using flow = await start([later, law])
  await take(flow.own)
  const newer = after(flow.own, await refresh(flow.own))
  const jwt = await prove(setup)
  expect((await take(newer, jwt)).status).toBe(202)
  expect(refreshes(flow.source.asked())).toBe(1)
  await askAgain(flow.held.recordId)
  const fetched = await flow.fetch(newer)
  expect((await take(newer, jwt)).body.credentials).toEqual(fetched.body.credentials)
})

test('the refreshed token is valid for longer at the deferred endpoint alone', async () => {
  await using flow = await start([later, law])
  const renewed = await refresh(flow.own)
  expect(renewed.body.expires_in).toBe(30 * 86_400)
  const own = after(flow.own, renewed)
  await take(own)
  await changeGrant({ agent: setup.agent, setup }, flow.held.recordId, {
    tokensEnd: new Date(0).toISOString(),
  })
  await askAgain(flow.held.recordId)
  expect((await take(own)).status).toBe(401)
  expect((await flow.fetch(own)).status).toBe(200)
  expect((await notify(own, 'credential_accepted')).status).toBe(204)
})

test('a source that refuses leaves the wallet what it has', async () => {
  await using flow = await start([later, { status: 403, body: { reason: 'left' } }, law])
  await take(flow.own)
  await askAgain(flow.held.recordId)
  expect(errorOf(await flow.fetch())).toEqual([400, 'credential_request_denied'])
  const { protocolState, revoked, metaLastFailure } = await flow.record()
  expect([protocolState, revoked, metaLastFailure?.detail]).toEqual(['CredentialSent', undefined, 'left'])
  expect(errorOf(await flow.fetch())).toEqual([400, 'invalid_transaction_id'])
  expect((await take(flow.own)).status).toBe(200)
})

test('a revoked credential is not fetched', async () => {
  await using flow = await start([later, law])
  await take(flow.own)
  await askAgain(flow.held.recordId)
  const path = { id: flow.held.recordId }
  await tenant.call('PATCH /credential-status/revoke-credential/{id}', { path })
  expect((await flow.fetch()).status).toBe(401)
  expect(await entries(flow.held.recordId)).toHaveLength(1)
})

test('a source that is down has the wallet wait, as long as each attempt fails', async () => {
  await using flow = await start([down, down, down, down, law])
  const waits = await take(flow.own)
  expect([waits.status, waits.body.interval]).toEqual([202, 60])
  expect((await flow.record()).metaLastFailure?.type).toBe('ClaimsSourceUnavailable')
  await askAgain(flow.held.recordId)
  expect((await flow.fetch()).body.interval).toBeGreaterThan(100)
  await askAgain(flow.held.recordId)
  expect((await flow.fetch()).status).toBe(200)
  expect((await flow.record()).metaLastFailure).toBeUndefined()
})

test('with onFailure "fail", the wallet requests the credential again', async () => {
  await using flow = await start([down, down, later, down, down, law], { onFailure: 'fail' })
  const jwt = await prove(setup)
  const fails = await take(flow.own, jwt)
  expect([fails.status, fails.headers.get('retry-after')]).toEqual([503, '60'])
  expect((await take(flow.own, jwt)).status).toBe(202)
  // The wallet that waits goes on to wait.
  await askAgain(flow.held.recordId)
  expect((await flow.fetch()).status).toBe(202)
})

test('a source without a usable answer is asked again when it is repaired', async () => {
  await using flow = await start([filled({ department: 7 }), law])
  expect((await take(flow.own)).body.interval).toBe(300)
  expect((await flow.record()).metaLastFailure?.detail).toMatch(/ The wallet asks again\.$/)
  expect([(await flow.fetch()).status, refreshes(flow.source.asked())]).toEqual([202, 1])
  await askAgain(flow.held.recordId)
  expect((await flow.fetch()).status).toBe(200)
})

test('old copies with other claims are revoked once the new one is accepted', async () => {
  await using flow = await start([later, law], {}, 'revoke')
  await take(flow.own)
  await askAgain(flow.held.recordId)
  expect((await flow.fetch()).status).toBe(200)
  const revoked = async () => (await entries(flow.held.recordId)).map((each) => each.revoked_at !== null)
  expect(await revoked()).toEqual([false, false])
  await notify(flow.own, 'credential_accepted')
  expect((await revoked()).filter((is) => is)).toHaveLength(1)
})
