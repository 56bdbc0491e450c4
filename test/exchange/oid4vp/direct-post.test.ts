/** Presentations over OpenID4VP by direct_post: accepted ones, and attacks, each refused with its reason. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { ask } from '../../support/ask.ts'
import { refusal } from '../../support/tenants.ts'
import { faults } from '../oid4vci/_schemas.ts'
import {
  decodeJwt,
  failureOf,
  holderKey,
  issueSdJwt,
  issuerDid,
  issuerKey,
  newVerifierDid,
  personQuery,
  present,
  presentationOf,
  presentSdJwt,
  readRequest,
  requestProof,
  respond,
  retype,
  retypeCredential,
  signJwt,
  startVerifier,
  vct,
  type Presented,
  type RequestOptions,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const verifier = await untilEnd(startVerifier())

async function asked(options: RequestOptions = {}) {
  const { presentationId, openid4vp } = await requestProof(verifier, options)
  const url = openid4vp!.authorizationRequest
  return { presentationId, url, request: await readRequest(url) }
}

test('an unsigned request by value is answered', async () => {
  const { presentationId, url, request } = await asked()
  expect(url).toMatch(/^openid4vp:\/\/\?/)
  expect(request).toMatchObject({
    response_type: 'vp_token',
    response_mode: 'direct_post',
    client_id: `redirect_uri:${request.response_uri}`,
    dcql_query: personQuery,
  })
  expect(faults('dcql_request', request.dcql_query)).toEqual([])
  for (const secret of [request.nonce, request.state]) expect(secret).toMatch(/^[\w-]{43}$/)
  expect((await presentationOf(verifier, presentationId)).status).toBe('RequestCreated')

  const reply = await present(request, { person: [await presentSdJwt(request)] })
  expect([reply.status, reply.body], JSON.stringify(reply.body)).toEqual([200, {}])
  const { status, openid4vp, data } = await presentationOf(verifier, presentationId)
  expect(status).toBe('PresentationVerified')
  expect(data).toHaveLength(1)
  expect(openid4vp!.credentials).toMatchObject([
    {
      credentialId: 'person',
      format: 'dc+sd-jwt',
      issuer: issuerDid,
      types: [vct],
      claims: { name: 'Alice' },
    },
  ])
  expect(openid4vp!.credentials![0]!.claims).not.toHaveProperty('age')
  expect(openid4vp!.checks!.map(({ name, result }) => `${name} ${result}`)).toEqual([
    'form passed',
    'audience passed',
    'nonce passed',
    'time passed',
    'query passed',
    'disclosure passed',
    'policy passed',
    'trust passed',
    'validity passed',
    'holder-binding passed',
    'signature passed',
    'status passed',
    'answer passed',
  ])
  const closed = await verifier.tenant.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'presentation-accept' },
  })
  expect(closed.status).toBe('PresentationAccepted')
})

test('a request is signed by a DID, and has the nonce of the wallet', async () => {
  const did = await newVerifierDid(verifier)
  const { url, request, presentationId } = await asked({ did })
  const { searchParams } = new URL(url)
  expect(Object.fromEntries(searchParams)).toMatchObject({
    client_id: `decentralized_identifier:${did}`,
    request_uri_method: 'post',
  })
  const body = 'wallet_nonce=abc&wallet_metadata=%7B%7D&unknown=1'
  const uri = searchParams.get('request_uri')!
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const posted = await fetch(uri, { method: 'POST', body, headers })
  expect(posted.headers.get('content-type')).toBe('application/oauth-authz-req+jwt')
  const { header, payload } = decodeJwt(await posted.text())
  expect(header).toMatchObject({ typ: 'oauth-authz-req+jwt', kid: `${did}#0`, alg: 'ES256' })
  const { iat: _, ...stable } = request
  expect(payload).toMatchObject({ ...stable, wallet_nonce: 'abc', aud: 'https://self-issued.me/v2' })
  const repeated = await ask(verifier.agent, `POST ${uri}`, {
    body: 'wallet_nonce=a&wallet_nonce=b',
    type: 'application/x-www-form-urlencoded',
  })
  expect([repeated.status, repeated.body.error]).toEqual([400, 'invalid_request'])

  expect((await present(request, { person: [await presentSdJwt(request)] })).status).toBe(200)
  expect((await presentationOf(verifier, presentationId)).status).toBe('PresentationVerified')
  expect((await fetch(uri)).status).toBe(404)
})

test('a request is signed by a certificate', async () => {
  const { hostname } = new URL(verifier.agent.url)
  const names = [{ type: 'dns' as const, value: 'verifier.example' }]
  const certificate = await verifier.tenant.call('POST /issuer-certificates/development', {
    body: { commonName: 'Verifier', names },
  })
  const { id: certificateId, x5c } = certificate
  const { request, url } = await asked({ certificateId })
  const hash = createHash('sha256').update(Buffer.from(x5c![0]!, 'base64')).digest('base64url')
  expect(request.client_id).toBe(`x509_hash:${hash}`)
  const { header } = decodeJwt(await (await fetch(new URL(url).searchParams.get('request_uri')!)).text())
  expect(header).toMatchObject({ x5c, alg: 'ES256' })
  expect((await present(request, { person: [await presentSdJwt(request)] })).status).toBe(200)
  const other = await refusal(requestProof(verifier, { certificateId, clientIdPrefix: 'x509_san_dns' }))
  expect(other).toMatchObject({ status: 400, detail: expect.stringContaining(hostname) })
})

test.each<[string, RequestOptions, string]>([
  [
    'a DID and a certificate',
    { did: 'did:web:a.example', certificateId: crypto.randomUUID() },
    'certificateId',
  ],
  ['a prefix without its signer', { clientIdPrefix: 'x509_hash' }, 'clientIdPrefix'],
  [
    'a signer for unsigned requests',
    { did: 'did:web:a.example', clientIdPrefix: 'redirect_uri' },
    'clientIdPrefix',
  ],
  [
    'another format',
    { dcqlQuery: { credentials: [{ id: 'a', format: 'ldp_vc', meta: {} }] } },
    'dcqlQuery.credentials.0.format',
  ],
  [
    'authorities',
    {
      dcqlQuery: {
        credentials: [
          {
            ...personQuery.credentials[0],
            trusted_authorities: [{ type: 'etsi_tl', values: ['https://a.example'] }],
          },
        ],
      },
    },
    'dcqlQuery.credentials.0.trusted_authorities',
  ],
  ['a redirect to a script', { redirectUri: 'javascript:alert(1)' }, 'redirectUri'],
])('a tenant cannot request with %s', async (_, options, member) => {
  const problem = await refusal(requestProof(verifier, options))
  expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining(member) })
})

/** Presents and expects that the named check fails. */
async function expectFailure(
  check: string,
  presented: Presented,
  options: RequestOptions = {},
): Promise<string> {
  const { presentationId, request } = await asked(options)
  const reply = await present(request, { person: [await presentSdJwt(request, presented)] })
  expect([reply.status, reply.body.error]).toEqual([400, 'invalid_request'])
  const [failure, ...more] = await failureOf(verifier, presentationId)
  expect([failure!.name, more.length]).toEqual([check, 0])
  const { metaLastFailure } = await presentationOf(verifier, presentationId)
  expect(metaLastFailure!.detail).toContain(failure!.reason)
  return failure!.reason!
}

const hourAgo = () => Math.floor(Date.now() / 1_000) - 3_600

test('a presentation without key binding is refused', () => expectFailure('query', { isBound: false }))

test('more claims than were requested are refused', async () => {
  expect(await expectFailure('disclosure', { claims: ['name', 'age'] })).toContain('age')
})

test('a missing claim, another type and another value are refused', async () => {
  expect(await expectFailure('query', { claims: [] })).toContain('name is missing')
  const credential = await issueSdJwt({ payload: { vct: 'https://credentials.example/other' } })
  expect(await expectFailure('query', { credential })).toContain('vct_values')
  const [asking] = personQuery.credentials
  const dcqlQuery = { credentials: [{ ...asking, claims: [{ path: ['name'], values: ['Bob'] }] }] }
  expect(await expectFailure('query', {}, { dcqlQuery })).toContain('another value')
})

test.each([undefined, 'JWT', 'sd-jwt', 'sd+jwt'])(
  'an SD-JWT of the type %s is not a credential',
  async (typ) => {
    const credential = retypeCredential(await issueSdJwt(), typ)
    expect(await expectFailure('form', { credential })).toContain('typ in the header of the credential')
  },
)

test.each([
  ['vc+sd-jwt', 'kb+jwt'],
  ['application/dc+sd-jwt', 'application/kb+jwt'],
])('a credential of the type %s is accepted, with a key binding of the type %s', async (typ, bindingTyp) => {
  const { request } = await asked()
  const credential = retypeCredential(await issueSdJwt(), typ)
  const parts = (await presentSdJwt(request, { credential })).split('~')
  const binding = retype(parts.pop()!, bindingTyp, holderKey)
  expect((await present(request, { person: [[...parts, binding].join('~')] })).status).toBe(200)
})

test('a credential that is bound to a DID URL is presented by its key', async () => {
  const cnf = { kid: `${createJwkDid(toPublic(holderKey))}#0` }
  const credential = await issueSdJwt({ payload: { cnf } })
  const { presentationId, request } = await asked()
  expect((await present(request, { person: [await presentSdJwt(request, { credential })] })).status).toBe(200)
  const { openid4vp } = await presentationOf(verifier, presentationId)
  expect(openid4vp!.credentials).toMatchObject([{ holder: createJwkDid(toPublic(holderKey)) }])
  await expectFailure('holder-binding', { credential, key: generateKey('P-256') })
})

test('a response to another state changes nothing', async () => {
  const [first, second] = [await asked(), await asked()]
  const vp_token = JSON.stringify({ person: [await presentSdJwt(first.request)] })
  for (const form of [{ vp_token, state: second.request.state }, { vp_token }]) {
    const reply = await respond(first.request, form)
    expect([reply.status, reply.body.error_description]).toEqual([400, 'state is not that of the request.'])
  }
  const record = await presentationOf(verifier, first.presentationId)
  expect([record.status, record.metaLastFailure?.detail]).toEqual([
    'RequestCreated',
    'state is not that of the request.',
  ])
  const trace = await verifier.tenant.call('GET /traces/{id}', { path: { id: first.presentationId } })
  expect(trace.steps.filter(({ kind }) => kind === 'message')).toMatchObject([
    { outcome: 'refused', type: 'authorization-response' },
    { outcome: 'refused', failure: 'invalid_request: state is not that of the request.' },
  ])
  expect((await respond(first.request, { vp_token, state: first.request.state })).status).toBe(200)
})

test('a request is answered once', async () => {
  const { request } = await asked()
  const vps = await Promise.all([1, 2, 3].map(() => presentSdJwt(request)))
  const replies = await Promise.all(vps.map((each) => present(request, { person: [each] })))
  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400])
  const late = await present(request, { person: [await presentSdJwt(request)] })
  expect(late.body.error_description).toContain('was answered')
})

test('a wallet that lost the answer gets it again', async () => {
  const redirectUri = 'https://shop.example/done'
  const { presentationId, request } = await asked({ redirectUri })
  const vp = await presentSdJwt(request)
  const send = () => present(request, { person: [vp] })
  const replies = await Promise.all([send(), send(), send()])
  for (const reply of [...replies, await send()])
    expect([reply.status, reply.body]).toEqual([200, replies[0].body])
  const { thid } = await presentationOf(verifier, presentationId)
  const events = await verifier.tenant.call('GET /events', { query: { thid } })
  expect(events.contents.map(({ data }: any) => data.status)).toEqual([
    'RequestCreated',
    'PresentationVerified',
  ])
  const responseCode = new URL(replies[0].body.redirect_uri).searchParams.get('response_code')!
  await verifier.tenant.call('POST /present-proof/presentations/{presentationId}/response-code', {
    path: { presentationId },
    body: { responseCode },
  })
  expect((await send()).body.error_description).toContain('was answered')
})

test('a response that was refused is refused again, with the same reason', async () => {
  const { request } = await asked()
  const vp = await presentSdJwt(request, { claims: ['name', 'age'] })
  const [first, second] = [await present(request, { person: [vp] }), await present(request, { person: [vp] })]
  expect([second.status, second.body]).toEqual([400, first.body])
  expect(first.body.error_description).toContain('age is disclosed')
})

test('an expired request is not answered', async () => {
  await using expired = await startVerifier({ PRESENTATION_INVITATION_EXPIRY: '0' })
  const { presentationId, openid4vp } = await requestProof(expired)
  const request = await readRequest(openid4vp!.authorizationRequest)
  const reply = await present(request, { person: [await presentSdJwt(request)] })
  expect([reply.status, reply.body.error_description]).toEqual([400, expect.stringContaining('has expired')])
  expect((await presentationOf(expired, presentationId)).status).toBe('RequestExpired')
})

test.each<[string, string]>([
  ['that is not JSON', '{'],
  ['that names a member twice', '{"person":["a"],"person":["b"]}'],
  ['that is a text', '"a~"'],
  ['with a text instead of an array', '{"person":"a~"}'],
  ['with objects', '{"person":[{}]}'],
  ['with too many presentations', JSON.stringify({ person: Array.from({ length: 21 }, () => 'a~') })],
  ['that is nested deeply', `{"person":${'['.repeat(100)}${']'.repeat(100)}}`],
])('a vp_token %s is refused, and the request waits', async (_, vp_token) => {
  const { presentationId, request } = await asked()
  const reply = await respond(request, { vp_token, state: request.state })
  expect([reply.status, reply.body.error]).toEqual([400, 'invalid_request'])
  expect(reply.body.error_description).toMatch(/^vp_token /)
  expect((await presentationOf(verifier, presentationId)).status).toBe('RequestCreated')
})

test('a wallet may decline', async () => {
  const { presentationId, request } = await asked()
  const form = { error: 'access_denied', error_description: 'not today', state: request.state }
  expect(await respond(request, form)).toMatchObject({ status: 200, body: {} })
  const { status, metaLastFailure } = await presentationOf(verifier, presentationId)
  expect([status, metaLastFailure]).toMatchObject([
    'ProblemReportReceived',
    { type: 'access_denied', title: 'access denied', detail: 'not today' },
  ])
})

test('the response code of a redirect is redeemed once, for its presentation', async () => {
  const redirectUri = 'https://shop.example/done?cart=1'
  const [{ presentationId, request }, other] = [await asked({ redirectUri }), await asked({ redirectUri })]
  const { body } = await present(request, { person: [await presentSdJwt(request)] })
  expect(body.redirect_uri).toMatch(/^https:\/\/shop\.example\/done\?cart=1&response_code=[\w-]{43}$/)
  const responseCode = new URL(body.redirect_uri).searchParams.get('response_code')!
  const redeem = (id: string, code = responseCode) =>
    verifier.tenant.call('POST /present-proof/presentations/{presentationId}/response-code', {
      path: { presentationId: id },
      body: { responseCode: code },
    })
  expect(await refusal(redeem(other.presentationId))).toMatchObject({ status: 409 })
  expect(await refusal(redeem(presentationId, 'guessed'))).toMatchObject({ status: 409 })
  expect((await redeem(presentationId)).status).toBe('PresentationVerified')
  expect(await refusal(redeem(presentationId))).toMatchObject({ status: 409 })
})

const jwtQuery = {
  credentials: [
    {
      id: 'person',
      format: 'jwt_vc_json',
      meta: { type_values: [['VerifiableCredential', 'Person']] },
      claims: [{ path: ['credentialSubject', 'name'] }],
    },
  ],
}
const holderDid = createJwkDid(toPublic(holderKey))

function issueJwt(subject = holderDid): string {
  const type = ['VerifiableCredential', 'Person']
  const vc = {
    '@context': ['https://www.w3.org/2018/credentials/v1'],
    type,
    credentialSubject: { id: subject, name: 'Alice' },
  }
  return signJwt({ typ: 'JWT' }, { iss: issuerDid, sub: subject, nbf: hourAgo(), vc }, issuerKey)
}

function presentJwt(request: any, credentials = [issueJwt()], changes: object = {}): string {
  const vp = {
    '@context': ['https://www.w3.org/2018/credentials/v1'],
    type: ['VerifiablePresentation'],
    verifiableCredential: credentials,
  }
  const payload = { iss: holderDid, aud: request.client_id, nonce: request.nonce, vp, ...changes }
  return signJwt({ typ: 'JWT' }, payload, holderKey)
}

test('a JWT credential is presented', async () => {
  const { presentationId, request } = await asked({ dcqlQuery: jwtQuery })
  const reply = await present(request, { person: [presentJwt(request)] })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  const { openid4vp } = await presentationOf(verifier, presentationId)
  expect(openid4vp!.credentials).toMatchObject([
    { format: 'jwt_vc_json', issuer: issuerDid, claims: { name: 'Alice' } },
  ])
})

test('credentials without holder binding are presented if the query allows that', async () => {
  const credentials = [personQuery.credentials[0]!, { ...jwtQuery.credentials[0]!, id: 'jwt' }]
  const unbound = credentials.map((each) => ({ ...each, require_cryptographic_holder_binding: false }))
  const { presentationId, request } = await asked({ dcqlQuery: { credentials: unbound } })
  const credential = await issueSdJwt({ holder: null })
  const person = [await presentSdJwt(request, { credential, isBound: false })]
  const reply = await present(request, { person, jwt: [issueJwt('did:web:somebody.example')] })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  const { openid4vp } = await presentationOf(verifier, presentationId)
  expect(openid4vp!.credentials).toHaveLength(2)
})

test('a JWT credential is presented with holder binding though the query does not require it', async () => {
  const credentials = [{ ...jwtQuery.credentials[0]!, require_cryptographic_holder_binding: false }]
  const { presentationId, request } = await asked({ dcqlQuery: { credentials } })
  const reply = await present(request, { person: [presentJwt(request)] })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  const { openid4vp } = await presentationOf(verifier, presentationId)
  expect(openid4vp!.checks).toContainEqual(
    expect.objectContaining({ name: 'holder-binding', result: 'passed' }),
  )

  const again = await asked({ dcqlQuery: { credentials } })
  const vp = presentJwt(again.request, undefined, { nonce: 'other' })
  expect((await present(again.request, { person: [vp] })).status).toBe(400)
  expect(await failureOf(verifier, again.presentationId)).toMatchObject([{ name: 'nonce' }])
})

test('several credentials of one query, and one of two credential sets', async () => {
  const [person] = personQuery.credentials
  const dcqlQuery = {
    credentials: [
      { ...person, multiple: true },
      { ...person, id: 'other', meta: { vct_values: ['urn:other'] } },
    ],
    credential_sets: [{ options: [['other'], ['person']] }],
  }
  const { presentationId, request } = await asked({ dcqlQuery })
  const vps = [await presentSdJwt(request), await presentSdJwt(request)]
  expect((await present(request, { person: vps })).status).toBe(200)
  expect((await presentationOf(verifier, presentationId)).openid4vp!.credentials).toHaveLength(2)
})

test('strangers find no request by another URL', async () => {
  const form = { body: 'state=a', type: 'application/x-www-form-urlencoded' }
  const statuses = [
    (await ask(verifier.agent, 'GET /oid4vp/requests/abc')).status,
    (await ask(verifier.agent, 'POST /oid4vp/requests/abc', form)).status,
    (await ask(verifier.agent, 'POST /oid4vp/requests/abc/response', form)).status,
  ]
  expect(statuses).toEqual([404, 404, 404])
})

test('the requests of an address are limited', async () => {
  await using limited = await startVerifier({ OID4VP_REQUESTS_PER_MINUTE: '2' })
  const { openid4vp } = await requestProof(limited)
  const request = await readRequest(openid4vp!.authorizationRequest)
  const statuses = []
  for (let count = 0; count < 3; count++)
    statuses.push((await respond(request, { vp_token: '{', state: request.state })).status)
  expect(statuses).toEqual([400, 400, 429])
})

test('texts of a wallet are stored on one line, without control characters', async () => {
  const { presentationId, request } = await asked()
  const error_description = 'no\nholder   bank.example\u001b[31m\u202e\u2028x'
  expect((await respond(request, { state: request.state, error: 'a\nb', error_description })).status).toBe(
    200,
  )
  const record = await presentationOf(verifier, presentationId)
  expect(record.metaLastFailure).toMatchObject({ type: 'a b', detail: 'no holder   bank.example [31m  x' })
})

test('all credentials are of one holder if the request says so', async () => {
  const credentials = ['person', 'role'].map((id) => ({ ...personQuery.credentials[0], id }))
  const dcqlQuery = { credentials }
  const answerWith = async (key: typeof holderKey, sameHolder?: boolean) => {
    const { presentationId, request } = await asked({ dcqlQuery, sameHolder })
    const role = { credential: await issueSdJwt({ holder: key }), key }
    await present(request, {
      person: [await presentSdJwt(request)],
      role: [await presentSdJwt(request, role)],
    })
    const { status, openid4vp } = await presentationOf(verifier, presentationId)
    return [status, openid4vp!.checks!.find(({ name }) => name === 'same-holder')?.result]
  }
  const stranger = generateKey('P-256')
  expect(await answerWith(stranger, true)).toEqual(['PresentationVerificationFailed', 'failed'])
  expect(await answerWith(holderKey, true)).toEqual(['PresentationVerified', 'passed'])
  expect(await answerWith(stranger)).toEqual(['PresentationVerified', undefined])
  const unbound = [{ ...credentials[0], require_cryptographic_holder_binding: false }]
  const refused = requestProof(verifier, { dcqlQuery: { credentials: unbound }, sameHolder: true })
  expect(await refusal(refused)).toMatchObject({
    status: 400,
    detail: expect.stringContaining('sameHolder: needs credentials'),
  })
})
