/** A wallet with an offer of an issuer with a log-in: what the browser sees, and what the credential contains. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeJwtVc } from '../../../credentials/codecs/_verify.ts'
import { sharedAgent } from '../../../support/agent.ts'
import { ask } from '../../../support/ask.ts'
import { untilEnd } from '../../../support/shared.ts'
import { publishSchema } from '../../../support/tenants.ts'
import { answer, offered, open, push, redeemAuthorized, sealedIn } from '../_authorization.ts'
import { addIssuer, prove, recordOf, request, type OfferOptions } from '../_wallet.ts'
import { begin, browse, comeBack, departed, useProvider, visit } from './_browser.ts'
import { startIdentityProvider } from './_real-provider.ts'

const agent = await sharedAgent()
const tenant = await agent.newTenant('issuer')
const setup = await addIssuer(agent, tenant)
const { issuerId, issuingDID } = setup
const provider = await untilEnd(startIdentityProvider({ redirectUris: [`${setup.identifier}/log-in`] }))
await useProvider(setup, provider.url, { scope: 'openid profile email staff' })
await addConfiguration('Employee', { name: 'string', department: 'string', employeeId: 'string' })
await addConfiguration('Counted', { name: 'integer' })

async function addConfiguration(configurationId: string, types: Record<string, string>) {
  const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))
  const required = Object.keys(types)
  const additionalProperties = false
  const schema = { name: configurationId.toLowerCase(), properties, required, additionalProperties }
  const schemaId = await publishSchema(tenant, issuingDID, schema)
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: { configurationId, format: 'jwt_vc_json', schemaId },
  })
}

type Options = OfferOptions & { expectedIdentity?: object }

const employee = (options: Options = {}) =>
  offered(setup, {
    credentialConfigurationId: 'Employee',
    claims: { employeeId: '7' },
    txCode: false,
    ...options,
  })

/** Redeems a code, and gets the credential. */
async function take(code: string, verifier: string) {
  const { body: token } = await redeemAuthorized(setup, { code, verifier })
  const body = { credential_configuration_id: 'Employee', proofs: { jwt: [await prove(setup)] } }
  return request(setup, { token: token.access_token, body })
}

test('the person logs in, consents, and the claims of the log-in are in the credential', async () => {
  const { recordId, verifier, parameters } = await employee()
  const page = await browse(setup, { ...parameters, scope: 'Employee' })
  expect(page.status).toBe(200)
  expect(page.text).toMatch(/You are signed in as<\/dt>\s*<dd>Alice Adams<\/dd>/)
  for (const claim of ['employeeId', 'name', 'department']) expect(page.text).toContain(`<li>${claim}</li>`)
  expect(page.text).not.toContain('Sales')
  const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
  const reply = await take(location!.searchParams.get('code')!, verifier)
  const claims = { employeeId: '7', name: 'Alice Adams', department: 'Sales' }
  expect(decodeJwtVc(reply.body.credentials[0].credential).claims).toMatchObject(claims)
  expect(await recordOf(setup, recordId)).toMatchObject({ claims, protocolState: 'CredentialSent' })
})

test('a pushed request goes the same way, and a claim of the offer stays as it is', async () => {
  const { verifier, parameters } = await employee({ claims: { employeeId: '8', name: 'A. Adams' } })
  const all = { ...parameters, scope: 'Employee' }
  const { request_uri } = (await push(setup, all)).body
  const page = await browse(setup, { client_id: 'wallet', request_uri })
  const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
  const reply = await take(location!.searchParams.get('code')!, verifier)
  expect(decodeJwtVc(reply.body.credentials[0].credential).claims).toMatchObject({ name: 'A. Adams' })
  // The pushed request was answered.
  expect((await departed(setup, { client_id: 'wallet', request_uri })).status).toBe(410)
})

test('who has logged in is stored sealed, and nothing before the consent', async () => {
  const { parameters, recordId } = await employee()
  const rows = () =>
    agent.agent.wallets.use(tenant.walletId, (wallet) =>
      wallet.db.selectFrom('issuance_grant').selectAll().where('records', 'like', `%${recordId}%`).execute(),
    )
  const page = await browse(setup, { ...parameters, scope: 'Employee' })
  expect((await rows())[0]!.identity).toBeNull()
  await answer(setup, { request: sealedIn(page), decision: 'accept' })
  const [grant] = await rows()
  expect(grant!.identity).toMatch(/^[\w-]{100,}$/)
  expect(JSON.stringify(grant)).not.toMatch(/Alice|alice/)
})

test.each<[expectedIdentity: object, isTaken: boolean]>([
  [{ sub: 'alice' }, true],
  [{ sub: 'bob' }, false],
  [{ claims: { email: 'alice@example.org' } }, true],
  [{ claims: { email: 'alice@example.org', department: 'Tests' } }, false],
  [{ claims: { missing: 'x' } }, false],
  [{ sub: 'alice', claims: { email: 'bob@example.org' } }, false],
])('an offer for %j: alice gets it: %s', async (expectedIdentity, isTaken) => {
  const { parameters, recordId, txCode } = await employee({ expectedIdentity, txCode: undefined as never })
  expect(txCode).toBeUndefined()
  const page = await browse(setup, { ...parameters, scope: 'Employee' })
  expect(page.status).toBe(isTaken ? 200 : 400)
  if (isTaken) return
  expect(page.text).toContain('error=access_denied')
  const record = await recordOf(setup, recordId)
  expect(record).toMatchObject({
    protocolState: 'OfferCreated',
    metaLastFailure: { type: 'access_denied', detail: expect.stringContaining('for another person') },
  })
  const { steps } = await tenant.call('GET /traces/{id}', { path: { id: recordId } })
  const refused = JSON.stringify(steps)
  expect(refused).toContain('log-in')
  expect(refused).toContain('for another person')
  expect(refused).not.toMatch(/bob@|alice@|Tests/)
})

test('an e-mail address that is not verified is nobody’s', async () => {
  provider.state.account = 'mallory'
  try {
    const { parameters } = await employee({ expectedIdentity: { claims: { email: 'alice@example.org' } } })
    expect((await browse(setup, { ...parameters, scope: 'Employee' })).text).toContain('error=access_denied')
  } finally {
    provider.state.account = 'alice'
  }
})

test('claims that the schema does not allow are refused before the consent, without their values', async () => {
  const { parameters, recordId } = await employee({ credentialConfigurationId: 'Counted', claims: {} })
  const page = await browse(setup, { ...parameters, scope: 'Counted' })
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('error=credential_request_denied')])
  const { metaLastFailure } = await recordOf(setup, recordId)
  expect(metaLastFailure!.detail).toContain('$.name: must be integer')
  expect(JSON.stringify(metaLastFailure)).not.toContain('Alice')
})

test('a provider that says much about a person does not hinder the consent', async () => {
  provider.state.account = 'verbose'
  try {
    const { parameters } = await employee()
    const page = await browse(setup, { ...parameters, scope: 'Employee' })
    const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
    expect(location!.searchParams.get('code')).toEqual(expect.any(String))
  } finally {
    provider.state.account = 'alice'
  }
})

test('a refused log-in is told to the wallet by a link, and the offer can be taken afterwards', async () => {
  const { parameters, recordId, verifier } = await employee()
  provider.state.account = undefined
  const page = await browse(setup, { ...parameters, scope: 'Employee' })
  provider.state.account = 'alice'
  expect(page.status).toBe(400)
  const link = new URL(/href="(https:\/\/wallet[^"]+)"/.exec(page.text)![1]!.replaceAll('&amp;', '&'))
  expect(Object.fromEntries(link.searchParams)).toMatchObject({
    error: 'access_denied',
    state: 'a state',
    iss: setup.identifier,
  })
  expect((await recordOf(setup, recordId)).metaLastFailure).toMatchObject({ type: 'access_denied' })
  const again = await browse(setup, { ...parameters, scope: 'Employee' })
  const { location } = await answer(setup, { request: sealedIn(again), decision: 'accept' })
  expect((await take(location!.searchParams.get('code')!, verifier)).status).toBe(200)
  expect((await recordOf(setup, recordId)).metaLastFailure).toBeUndefined()
})

test('another browser gets a page that says to begin again, and nothing is written', async () => {
  const { parameters, recordId } = await employee()
  const start = await begin(setup, { ...parameters, scope: 'Employee' })
  const back = await visit(setup, start.redirect)
  const page = await comeBack(back, undefined)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('Begin again in your wallet')])
  expect(page.text).not.toContain('wallet.example')
  expect((await recordOf(setup, recordId)).metaLastFailure).toBeUndefined()
  expect((await comeBack(back, start.cookie)).status).toBe(200)
})

test('a page from before a log-in was required makes no code', async () => {
  const other = await addIssuer(agent, tenant)
  const { parameters } = await offered(other, { txCode: false })
  const page = await open(other, parameters)
  await useProvider(other, provider.url)
  const refused = await answer(other, { request: sealedIn(page), decision: 'accept' })
  expect([refused.status, refused.location]).toEqual([410, undefined])
})

test('a provider that is away is told to the wallet, and the tenant reads why', async () => {
  const other = await addIssuer(agent, tenant)
  await useProvider(other, 'http://127.0.0.1:9')
  const { parameters, recordId } = await offered(other, { txCode: false })
  const page = await departed(other, parameters)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('error=temporarily_unavailable')])
  expect((await recordOf(other, recordId)).metaLastFailure).toMatchObject({ type: 'temporarily_unavailable' })
})

test.each<[body: object, reason: string]>([
  [{ expectedIdentity: {} }, 'expectedIdentity: has neither sub nor claims'],
  [{ expectedIdentity: { sub: 'alice' }, grant: 'pre-authorized_code' }, 'nobody logs in'],
  [{ claims: { name: 7 } }, '$.name: must be string'],
])('an offer with %j is refused', async (more, reason) => {
  const body = { credentialConfigurationId: 'Employee', issuingDID, claims: {}, ...more }
  const call = `POST /oid4vci/issuers/${issuerId}/credential-offers`
  const refused = await ask(agent, call, { body, apiKey: tenant.apiKey })
  expect([refused.status, refused.body.detail]).toEqual([expect.any(Number), expect.stringContaining(reason)])
  expect(refused.status).toBeLessThan(423)
})

test('an issuer without a log-in expects nobody, and one with it asks for the log-in by default', async () => {
  const other = await addIssuer(agent, tenant)
  const body = { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'A' } }
  const expected = { ...body, expectedIdentity: { sub: 'alice' } }
  const at = (id: string) => `POST /oid4vci/issuers/${id}/credential-offers`
  const refused = await ask(agent, at(other.issuerId), { body: expected, apiKey: tenant.apiKey })
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('--log-in')])
  const made = await ask(agent, at(issuerId), { body, apiKey: tenant.apiKey })
  expect(decodeURIComponent(made.body.credentialOffer)).toContain('authorization_code')
  expect(made.body.txCode).toMatch(/^\d{6}$/)
})

test('over https, the cookie is of this host alone', async () => {
  const secure = await sharedAgent({
    REST_SERVICE_URL: 'https://agent.example',
    AGENT_ALLOW_PRIVATE_NETWORK: 'true',
  })
  const other = await addIssuer(secure, await secure.newTenant('issuer'))
  await useProvider(other, provider.url)
  const { parameters } = await offered(other, { txCode: false })
  const { headers, location } = await departed(other, parameters)
  expect(headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-vci=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/),
  ])
  const redirectUri = `https://agent.example/oid4vci/issuers/${other.issuerId}/log-in`
  expect(location!.searchParams.get('redirect_uri')).toBe(redirectUri)
  expect(headers.get('cache-control')).toBe('no-store')
})

test('whatever comes back, the page says what to do, and nothing is written', async () => {
  const { parameters, recordId } = await employee()
  const { redirect, cookie } = await begin(setup, { ...parameters, scope: 'Employee' })
  const { state } = Object.fromEntries((await visit(setup, redirect)).searchParams)
  const text = fc.string({ maxLength: 50 })
  const changed = fc
    .tuple(fc.nat(state!.length - 1), fc.constantFrom('A', '0', '-', '%', 'é', ''))
    .map(([at, sign]) => state!.slice(0, at) + sign + state!.slice(at + 1))
    .filter((each) => each !== state)
  const returned = fc.record({ state: fc.oneof(text, changed), code: text, iss: text, error: text })
  const answers = fc.asyncProperty(returned, fc.constantFrom(cookie, undefined), async (query, sent) => {
    const url = new URL(`${setup.identifier}/log-in?${new URLSearchParams(query).toString()}`)
    const page = await comeBack(url, sent)
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('Begin again in your wallet')])
  })
  await fc.assert(answers, { numRuns: 100 })
  expect(await recordOf(setup, recordId)).not.toHaveProperty('metaLastFailure')
})
