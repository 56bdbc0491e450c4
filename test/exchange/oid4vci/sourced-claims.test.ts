/** Claims that a source of the tenant gives when a wallet requests the credential. */
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { describe, expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { claimsSecretsOf } from '../../../src/exchange/oid4vci/claims-secret.ts'
import { sourceOf } from '../../../src/exchange/oid4vci/claims-source.ts'
import { findConfiguration } from '../../../src/exchange/oid4vci/configurations.ts'
import { exportFrom, importInto } from '../../operations/wallet-export/_transfer.ts'
import { sharedAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { untilEnd } from '../../support/shared.ts'
import { credentialIn, refusal } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import { addSource, filled, openSource, type Scripted, type SourceSettings } from './_claims-source.ts'
import {
  addIssuer,
  errorOf,
  fetchDeferred,
  offer,
  prove,
  recordOf,
  redeemed,
  redeemOffer,
  request,
  startIssuer,
  type OfferOptions,
} from './_wallet.ts'

const setup = await untilEnd(startIssuer({ OID4VCI_CLAIMS_TIMEOUT: '1' }))
const { tenant } = setup

const issuePath = 'POST /issue-credentials/records/{recordId}/issue-credential'
const issueNow = (recordId: string, claims?: Record<string, any>) =>
  tenant.call(issuePath, { path: { recordId }, body: { claims } })

/** An offer of an employee whose code is redeemed, and its source. */
async function start(
  scripted: Scripted[],
  { settings, ...options }: OfferOptions & { settings?: SourceSettings } = {},
) {
  const source = await openSource(...scripted)
  const { configurationId, secret } = await addSource(setup, source.url, settings)
  const made = await redeemed(setup, {
    credentialConfigurationId: configurationId,
    claims: { employeeId: '7' },
    ...options,
  })
  const key = generateKey('P-256')
  return {
    ...made,
    configurationId,
    secret,
    source,
    /** Requests the credential, always with the same key. */
    take: async () => {
      const jwt = [await prove(setup, { key })]
      const body = { credential_configuration_id: configurationId, proofs: { jwt } }
      return request(setup, { token: made.token, body })
    },
    fetch: () => fetchDeferred(setup, made.token, made.recordId),
    record: () => recordOf(setup, made.recordId),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  }
}

const subjectOf = (credential: string) => {
  const { id: _, ...claims } = (decodeJwtVc(credential).payload as any).vc.credentialSubject
  return claims
}

describe('a source that answers', () => {
  test('gives the claims that the offer does not have, in one signed request', async () => {
    await using flow = await start([filled({ department: 'Sales' })])
    const { status, body } = await flow.take()
    expect([status, subjectOf(body.credentials[0].credential)]).toEqual([
      200,
      { employeeId: '7', department: 'Sales' },
    ])
    expect(flow.source.verify(flow.secret)).toEqual({
      type: 'ClaimsRequested',
      issuerId: setup.issuerId,
      recordId: flow.recordId,
      configurationId: flow.configurationId,
      credentialIdentifier: flow.recordId,
      purpose: 'issue',
      offered: { employeeId: '7' },
      wanted: [['department'], ['level']],
      wallet: { attested: false },
    })
    expect((await flow.take()).body).toEqual(body)
    expect(flow.source.ids()).toEqual([flow.recordId])
    expect(await flow.record()).toMatchObject({
      protocolState: 'CredentialSent',
      claims: { employeeId: '7', department: 'Sales' },
    })
  })

  test('is not asked before nonce, proof and token are valid', async () => {
    await using flow = await start([filled({ department: 'Sales' })])
    const body = { credential_configuration_id: flow.configurationId }
    const wrong = [await prove(setup, { claims: { nonce: 'another' } })]
    const unsigned = [await prove(setup, { signer: generateKey('Ed25519') })]
    for (const jwt of [wrong, unsigned])
      await request(setup, { token: flow.token, body: { ...body, proofs: { jwt } } })
    await request(setup, { token: 'another', body: { ...body, proofs: { jwt: [await prove(setup)] } } })
    expect(flow.source.requests).toEqual([])
  })

  test('needs no claims in the offer, and can set the validity', async () => {
    const all = { employeeId: '8', department: 'Sales', level: 3 }
    await using flow = await start([filled(all, { validitySeconds: 86_400 })], { claims: undefined as never })
    const { body } = await flow.take()
    const { payload } = decodeJwtVc(body.credentials[0].credential) as any
    expect(payload.exp - payload.nbf).toBe(86_400)
    expect(subjectOf(body.credentials[0].credential)).toEqual(all)
  })

  test('has its claims in the credential alone if the record does not keep them', async () => {
    const settings = { keepClaims: false }
    await using flow = await start([filled({ department: 'Sales' })], { settings })
    const { body } = await flow.take()
    expect(subjectOf(body.credentials[0].credential)).toHaveProperty('department')
    expect((await flow.record()).claims).toEqual({ employeeId: '7' })
  })

  test('is asked once for two requests at once, or gives them the same credential', async () => {
    await using flow = await start([filled({ department: 'Sales' })])
    const replies = await Promise.all([flow.take(), flow.take(), flow.take()])
    for (const { status, body } of replies) expect([status, body]).toEqual([200, replies[0].body])
    expect(new Set(flow.source.ids())).toEqual(new Set([flow.recordId]))
  })
})

test('the settings of a configuration say which claims the source has, and how it calls them', async () => {
  await using source = await openSource(filled({ unit: { name: 'Sales' } }))
  const { configurationId } = await addSource(setup, source.url)
  const claims = [
    { path: ['department'], from: 'source' as const, as: ['unit', 'name'] },
    { path: ['level'], value: 3 },
  ]
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId: setup.issuerId, credentialConfigId: configurationId },
    body: { claims },
  })
  const options = { credentialConfigurationId: configurationId, claims: { employeeId: '7' } }
  const { token } = await redeemed(setup, options)
  const body = { credential_configuration_id: configurationId, proofs: { jwt: [await prove(setup)] } }
  const reply = await request(setup, { token, body })
  expect(subjectOf(reply.body.credentials[0].credential)).toEqual({
    employeeId: '7',
    department: 'Sales',
    level: 3,
  })
  expect(source.asked()[0].wanted).toEqual([['unit', 'name']])
  const foreign = offer(setup, { ...options, claims: { employeeId: '7', level: 4 } })
  expect(await refusal(foreign)).toMatchObject({
    status: 400,
    detail: expect.stringContaining('claims.level: the configuration says where this claim comes from'),
  })
})

test('an offer may lack claims only for a source, and those that it has must fit the schema', async () => {
  await using source = await openSource(filled({}))
  const { configurationId } = await addSource(setup, source.url)
  const options = { credentialConfigurationId: configurationId }
  expect(await refusal(offer(setup, { ...options, claims: { employeeId: 7 } }))).toMatchObject({
    detail: expect.stringContaining('$.employeeId: must be string'),
  })
  expect(await refusal(offer(setup, { claims: undefined as never }))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('claims: Missing request parameter: claims'),
  })
})

describe('a source that defers', () => {
  test('is asked again at its time, and the wallet fetches the credential then', async () => {
    await using flow = await start([
      { status: 202, body: { retryAfter: 2 } },
      filled({ department: 'Sales' }),
    ])
    expect(flow.expiresIn).toBe(30 * 86_400)
    const deferred = await flow.take()
    expect([deferred.status, deferred.body]).toEqual([202, { transaction_id: flow.recordId, interval: 5 }])
    expect(await flow.record()).toMatchObject({ protocolState: 'RequestDeferred' })
    expect((await flow.fetch()).status).toBe(202)
    expect(flow.source.requests).toHaveLength(1)
    const approved = await credentialIn(tenant.call, (await flow.record()).thid, 'RequestApproved')
    expect(approved.claims).toEqual({ employeeId: '7' })
    const { status, body } = await flow.fetch()
    expect([status, subjectOf(body.credentials[0].credential)]).toEqual([
      200,
      { employeeId: '7', department: 'Sales' },
    ])
    expect(flow.source.ids()).toEqual([flow.recordId, flow.recordId])
    expect((await flow.record()).claims).toEqual({ employeeId: '7', department: 'Sales' })
  })

  test('tells the wallet when to ask', async () => {
    for (const [retryAfter, least, most] of [
      [1, 5, 5],
      [100, 90, 100],
      [3_600, 300, 300],
    ] as const) {
      await using flow = await start([{ status: 202, body: { retryAfter } }])
      for (const { body } of [await flow.take(), await flow.fetch()]) {
        expect(body.interval).toBeGreaterThanOrEqual(least)
        expect(body.interval).toBeLessThanOrEqual(most)
      }
    }
  })

  test('is overruled by the tenant', async () => {
    await using flow = await start([{ status: 202, body: { retryAfter: 3_600 } }])
    await flow.take()
    const wrong = await refusal(issueNow(flow.recordId, { department: 7 }))
    expect(wrong).toMatchObject({ detail: expect.stringContaining('$.department: must be string') })
    const twice = await refusal(issueNow(flow.recordId, { employeeId: '8', department: 'Sales' }))
    expect(twice).toMatchObject({ status: 400, detail: expect.stringContaining('claims.employeeId:') })
    expect(await issueNow(flow.recordId, { department: 'Law' })).toMatchObject({
      protocolState: 'RequestApproved',
    })
    expect(await issueNow(flow.recordId, { department: 'Law' })).toMatchObject({
      protocolState: 'RequestApproved',
    })
    const { body } = await flow.fetch()
    expect(subjectOf(body.credentials[0].credential)).toEqual({ employeeId: '7', department: 'Law' })
    expect(flow.source.requests).toHaveLength(1)
  })

  test('is asked at once when the tenant says so', async () => {
    await using flow = await start([
      { status: 202, body: { retryAfter: 3_600 } },
      filled({ department: 'Sales' }),
    ])
    await flow.take()
    expect(await issueNow(flow.recordId)).toMatchObject({ protocolState: 'RequestApproved' })
    expect((await flow.fetch()).status).toBe(200)
  })

  test('comes after the approval of an offer that needs one', async () => {
    await using flow = await start([filled({ department: 'Sales' })], { automaticIssuance: false })
    expect((await flow.take()).status).toBe(202)
    expect(flow.source.requests).toEqual([])
    await issueNow(flow.recordId)
    expect(flow.source.requests).toHaveLength(1)
    const { body } = await flow.fetch()
    expect(subjectOf(body.credentials[0].credential)).toHaveProperty('department', 'Sales')
  })
})

describe('a source that refuses', () => {
  const refuses = { status: 403, body: { reason: 'Alice has left' } }

  test('ends the record with its reason, which the wallet does not get', async () => {
    await using flow = await start([refuses])
    const { status, body } = await flow.take()
    expect([status, body.error]).toEqual([400, 'credential_request_denied'])
    expect(JSON.stringify(body)).not.toContain('Alice')
    expect(await flow.record()).toMatchObject({
      protocolState: 'IssuanceFailed',
      metaLastFailure: { type: 'ClaimsRefused', detail: 'Alice has left' },
    })
    expect(errorOf(await flow.take())).toEqual([400, 'credential_request_denied'])
    expect(flow.source.requests).toHaveLength(1)
  })

  test('ends a deferred request', async () => {
    await using flow = await start([{ status: 202, body: { retryAfter: 1 } }, refuses])
    await flow.take()
    await credentialIn(tenant.call, (await flow.record()).thid, 'IssuanceFailed')
    expect(errorOf(await flow.fetch())).toEqual([400, 'credential_request_denied'])
  })
})

describe('a source that does not answer', () => {
  test('defers: it is asked again after a minute', async () => {
    await using flow = await start([{ status: 503 }])
    const { status, body } = await flow.take()
    expect([status, Math.round(body.interval / 10)]).toEqual([202, 6])
    expect(flow.source.ids()).toEqual([flow.recordId, flow.recordId])
    expect(await flow.record()).toMatchObject({
      protocolState: 'RequestDeferred',
      metaLastFailure: { type: 'ClaimsSourceUnavailable', detail: 'The claims source answered 503.' },
    })
  })

  test('or has the wallet request again, and nothing is used up', async () => {
    const settings = { onFailure: 'fail' as const }
    const down = { status: 503, headers: { 'retry-after': '7' } }
    await using flow = await start([down, down, filled({ department: 'Sales' })], { settings })
    const jwt = [await prove(setup)]
    const body = { credential_configuration_id: flow.configurationId, proofs: { jwt } }
    const headers = { authorization: `Bearer ${flow.token}` }
    const send = () =>
      ask(setup.agent, `POST /oid4vci/issuers/${setup.issuerId}/credentials`, { body, headers })
    const failed = await send()
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '7'])
    expect(JSON.stringify(failed.body)).not.toContain(new URL(flow.source.url).host)
    expect(await flow.record()).toMatchObject({
      protocolState: 'OfferRedeemed',
      metaLastFailure: { type: 'ClaimsSourceUnavailable' },
    })
    const again = await send()
    expect([again.status, subjectOf(again.body.credentials[0].credential).department]).toEqual([200, 'Sales'])
    expect(await flow.record()).not.toHaveProperty('metaLastFailure')
  })
})

describe('a source that lies', () => {
  const cases: [string, Scripted, string][] = [
    ['another status', { status: 201, body: {} }, 'answered 201'],
    ['no JSON', { status: 200, body: '<html>' }, 'is not JSON'],
    ['a claim that was not asked for', filled({ department: 'A', salary: 'secret' }), 'claims.salary:'],
    ['an offered claim', filled({ department: 'A', employeeId: 'secret' }), 'claims.employeeId:'],
    ['a claim against the schema', filled({ department: ['secret'] }), '$.department: must be string'],
    ['too few claims', filled({ level: 3 }), '$.department: is missing'],
  ]
  test.each(cases)('with %s defers the request until it is repaired', async (_, scripted, reason) => {
    await using flow = await start([scripted, filled({ department: 'Sales' })])
    await using webhook = await Webhook.open()
    const { id } = await tenant.call('POST /events/webhooks', { body: { url: webhook.url } })
    expect((await flow.take()).status).toBe(202)
    const { protocolState, metaLastFailure } = await flow.record()
    expect(protocolState).toBe('RequestDeferred')
    expect(metaLastFailure).toMatchObject({ type: 'ClaimsUnusable', detail: expect.stringContaining(reason) })
    expect(metaLastFailure!.detail).toContain(`agent credential issue ${flow.recordId}`)
    expect(JSON.stringify(metaLastFailure)).not.toContain('secret')
    await webhook.waitFor('the failure', ({ data }: any) => data.metaLastFailure?.type === 'ClaimsUnusable')
    await tenant.call('DELETE /events/webhooks/{id}', { path: { id } })
    expect((await flow.fetch()).status).toBe(202)
    expect(flow.source.requests).toHaveLength(1)
    await issueNow(flow.recordId)
    expect((await flow.fetch()).status).toBe(200)
  })

  test('again is not believed', async () => {
    await using flow = await start([filled({ level: 'secret' })])
    await flow.take()
    const again = await issueNow(flow.recordId)
    expect([again.protocolState, again.metaLastFailure?.type]).toEqual(['RequestDeferred', 'ClaimsUnusable'])
  })
})

test('an offer whose configuration has lost its source needs claims of the tenant', async () => {
  await using flow = await start([filled({ department: 'Sales' })])
  await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId: setup.issuerId, credentialConfigId: flow.configurationId },
    body: { claimsSource: null },
  })
  expect((await flow.take()).status).toBe(202)
  expect(await flow.record()).toMatchObject({
    protocolState: 'RequestDeferred',
    metaLastFailure: { detail: expect.stringContaining('$.department: is missing') },
  })
  await issueNow(flow.recordId, { department: 'Sales' })
  expect((await flow.fetch()).status).toBe(200)
})

test('claims are for credentials of a source alone', async () => {
  const { recordId, token } = await redeemed(setup, { automaticIssuance: false })
  await request(setup, { token, jwt: await prove(setup) })
  expect(await refusal(issueNow(recordId, { name: 'Eve' }))).toMatchObject({
    status: 400,
    detail: 'claims: the credential has the claims of its offer. Leave them out.',
  })
  expect((await issueNow(recordId)).protocolState).toBe('RequestApproved')
})

test('of two credentials of an offer, that of the source is deferred, and the other one is not', async () => {
  await using source = await openSource({ status: 202, body: { retryAfter: 3_600 } })
  const { configurationId } = await addSource(setup, source.url)
  const { issuerId, issuingDID } = setup
  const { credentialOffer } = await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path: { issuerId },
    body: {
      credentials: [
        { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'Alice' } },
        { credentialConfigurationId: configurationId, issuingDID, credentialIdentifier: 'work' },
      ],
    },
  })
  const { access_token: token } = (await redeemOffer(setup, credentialOffer)).body
  const take = async (credential_configuration_id: string) => {
    const proofs = { jwt: [await prove(setup)] }
    return (await request(setup, { token, body: { credential_configuration_id, proofs } })).status
  }
  expect([await take(configurationId), await take('Person')]).toEqual([202, 200])
  expect(source.asked()).toMatchObject([{ credentialIdentifier: 'work', offered: {} }])
})

test('the source and its secret move with the wallet', async () => {
  const other = await sharedAgent()
  const mover = await addIssuer(setup.agent, await setup.agent.newTenant('mover'))
  const { secret, configurationId } = await addSource(mover, 'https://hr.example/claims')
  const { walletId } = mover.tenant
  await importInto(other, await exportFrom(setup.agent, walletId, { move: true }))
  const { db, wallets } = other.agent
  const issuers = db.selectFrom('credential_issuer').selectAll().where('id', '=', mover.issuerId)
  const issuer = await issuers.executeTakeFirstOrThrow()
  const known = await wallets.use(walletId, async (wallet) => claimsSecretsOf(wallet, issuer))
  expect(known).toEqual([{ secret }])
  const configuration = await findConfiguration(db, mover.issuerId, configurationId)
  expect(sourceOf(configuration!)).toMatchObject({ url: 'https://hr.example/claims' })
})
