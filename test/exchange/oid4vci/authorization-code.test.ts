/**
 * Issuance with the grant `authorization_code`: offer, pushed request, consent page, token, credential; and
 * what is refused at each step.
 */
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { describe, expect, test } from 'vitest'
import {
  answer,
  consent,
  newPkce,
  offered,
  open,
  push,
  redeemAuthorized,
  redirectUri,
  sealedIn,
  type Parameters,
} from './_authorization.ts'
import {
  errorOf,
  addIssuer,
  codeOf,
  offer,
  preAuthorizedGrant,
  prove,
  readOffer,
  recordOf,
  redeem,
  redeemed,
  request,
  startIssuer,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())
const other = await addIssuer(setup.agent, setup.tenant)

const details = JSON.stringify([{ type: 'openid_credential', credential_configuration_id: 'Person' }])

describe('issuance', () => {
  test('a wallet pushes its request, a person consents with the code of the offer, and the wallet gets the credential', async () => {
    const { recordId, txCode, parameters, verifier, credentialOffer } = await offered(setup)
    const { grants } = await readOffer(credentialOffer)
    expect(grants).toEqual({ authorization_code: { issuer_state: expect.any(String) } })
    const pushed = await push(setup, parameters)
    expect([pushed.status, pushed.body]).toEqual([
      201,
      { request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:/), expires_in: 90 },
    ])
    const page = await open(setup, { client_id: 'wallet', request_uri: pushed.body.request_uri })
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.text).toContain('Person')
    expect(page.text).toContain(setup.issuingDID)
    expect(page.text).toContain('<li>name</li>')
    // The value is for the wallet of the person, which has not consented yet.
    expect(page.text).not.toContain('Alice')
    const policy = page.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("form-action 'self' https://wallet.example;")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(page.headers.get('referrer-policy')).toBe('same-origin')
    const { status, location } = await answer(setup, {
      request: sealedIn(page),
      decision: 'accept',
      tx_code: txCode,
    })
    expect(status).toBe(303)
    expect(location!.href.startsWith(`${redirectUri}&code=`)).toBe(true)
    const { code, ...response } = Object.fromEntries(location!.searchParams)
    expect(response).toEqual({ app: '1', state: 'a state', iss: setup.identifier })
    expect((await recordOf(setup, recordId)).protocolState).toBe('OfferCreated')
    const token = await redeemAuthorized(setup, { code: code!, verifier })
    expect([token.status, token.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(token.body).toMatchObject({ token_type: 'Bearer', expires_in: expect.any(Number) })
    expect(token.body.authorization_details).toBeUndefined()
    expect((await recordOf(setup, recordId)).protocolState).toBe('OfferRedeemed')
    const { body } = await request(setup, { token: token.body.access_token, jwt: await prove(setup) })
    expect(decodeJwtVc(body.credentials[0].credential).claims).toMatchObject({ name: 'Alice' })
    expect((await recordOf(setup, recordId)).protocolState).toBe('CredentialSent')
  })

  test('the request is sent to the page itself, with authorization details and without a transaction code', async () => {
    const { parameters, verifier, txCode } = await offered(setup, { txCode: false })
    expect(txCode).toBeUndefined()
    const asked = { ...parameters, scope: undefined, authorization_details: details }
    const page = await open(setup, asked)
    expect(page.text).not.toContain('tx_code')
    const code = await consent(setup, asked)
    const { body: token } = await redeemAuthorized(setup, { code, verifier })
    const [granted] = token.authorization_details
    expect(granted).toMatchObject({ type: 'openid_credential', credential_configuration_id: 'Person' })
    const [identifier] = granted.credential_identifiers
    const sent = async (body: object) =>
      request(setup, {
        token: token.access_token,
        body: { proofs: { jwt: [await prove(setup)] }, ...body },
      })
    const rows: [object, string][] = [
      [{ credential_configuration_id: 'Person' }, 'invalid_credential_request'],
      [
        { credential_configuration_id: 'Person', credential_identifier: identifier },
        'invalid_credential_request',
      ],
      [{ credential_identifier: 'another' }, 'unknown_credential_identifier'],
    ]
    for (const [body, error] of rows) expect(errorOf(await sent(body))).toEqual([400, error])
    const reply = await sent({ credential_identifier: identifier })
    expect(reply.body.credentials).toHaveLength(1)
  })

  test('a key proof may name the client, and no other one', async () => {
    const { parameters, verifier } = await offered(setup, { txCode: false })
    const { body } = await redeemAuthorized(setup, { code: await consent(setup, parameters), verifier })
    const take = async (iss: unknown) =>
      request(setup, { token: body.access_token, jwt: await prove(setup, { claims: { iss } }) })
    expect(errorOf(await take('thief'))).toEqual([400, 'invalid_proof'])
    expect((await take('wallet')).status).toBe(200)
    // A pre-authorized code tells no client.
    const { token } = await redeemed(setup)
    const jwt = await prove(setup, { claims: { iss: 'wallet' } })
    expect((await request(setup, { token, jwt })).status).toBe(200)
  })

  test('an offer by reference has the grant', async () => {
    const { credentialOffer } = await offer(setup, { grant: 'authorization_code', byReference: true })
    expect((await readOffer(credentialOffer)).grants).toEqual({
      authorization_code: { issuer_state: expect.any(String) },
    })
  })
})

describe('a request is refused', () => {
  type Change = (valid: Parameters) => Parameters | Promise<Parameters>
  const rows: [string, Change, string][] = [
    [
      'without PKCE',
      () => ({ code_challenge: undefined, code_challenge_method: undefined }),
      'invalid_request',
    ],
    ['with the PKCE method plain', () => ({ code_challenge_method: 'plain' }), 'invalid_request'],
    [
      'with no PKCE method, which means plain',
      () => ({ code_challenge_method: undefined }),
      'invalid_request',
    ],
    ['with a challenge that is not a SHA-256', () => ({ code_challenge: 'short' }), 'invalid_request'],
    ['of the implicit grant', () => ({ response_type: 'token' }), 'unsupported_response_type'],
    ['with a response in the fragment', () => ({ response_mode: 'fragment' }), 'invalid_request'],
    ['with a request object', () => ({ request: 'e30.e30.' }), 'request_not_supported'],
    ['for another credential', () => ({ scope: 'openid Other' }), 'invalid_scope'],
    ['for no credential', () => ({ scope: undefined }), 'invalid_scope'],
    [
      'with details of another credential',
      () => ({ authorization_details: details.replace('Person', 'Other') }),
      'invalid_authorization_details',
    ],
    [
      'with details of another type',
      () => ({ authorization_details: '[{"type":"payment"}]' }),
      'invalid_authorization_details',
    ],
    [
      'with details for another issuer',
      () => ({
        authorization_details: details.replace('}', ',"locations":["https://issuer.example"]}'),
      }),
      'invalid_authorization_details',
    ],
    [
      'with details that are not JSON',
      () => ({ authorization_details: '[' }),
      'invalid_authorization_details',
    ],
  ]
  test.each(rows)(
    '%s: on a page with a link to the wallet, and when it is pushed',
    async (_, change, error) => {
      const { parameters } = await offered(setup)
      const changed = { ...parameters, ...(await change(parameters)) }
      const { status, location, text } = await open(setup, changed)
      // Anyone can make an offer, and so a link that begins here (RFC 9700 §4.11.2).
      expect([status, location]).toEqual([400, undefined])
      const href = /<a href="([^"]+)"/.exec(text)![1]!.replaceAll('&amp;', '&')
      expect(href.startsWith(`${redirectUri}&`)).toBe(true)
      const told = Object.fromEntries(new URL(href).searchParams)
      expect(told).toMatchObject({ error, state: 'a state', iss: setup.identifier })
      expect(errorOf(await push(setup, changed))).toEqual([400, error])
    },
  )

  const unredirected: [string, Change][] = [
    ['whose redirect URI runs a script', () => ({ redirect_uri: 'javascript:alert(1)' })],
    ['whose redirect URI is a document', () => ({ redirect_uri: 'data:text/html,a' })],
    ['whose redirect URI has the scheme of many apps', () => ({ redirect_uri: 'wallet://cb' })],
    ['whose redirect URI is http of another machine', () => ({ redirect_uri: 'http://wallet.example/cb' })],
    ['whose redirect URI has a fragment', () => ({ redirect_uri: 'https://wallet.example/#cb' })],
    ['whose redirect URI has a user name', () => ({ redirect_uri: 'https://a@wallet.example/' })],
    ['whose redirect URI adds to the policy of the page', () => ({ redirect_uri: 'https://a;sandbox' })],
    ['whose redirect URI is of all hosts', () => ({ redirect_uri: 'https://*' })],
    ['whose redirect URI is relative', () => ({ redirect_uri: '/cb' })],
    ['whose redirect URI has a line end', () => ({ redirect_uri: 'https://wallet.example/\r\na: b' })],
    ['without a redirect URI', () => ({ redirect_uri: undefined })],
    ['without a client', () => ({ client_id: undefined })],
    ['without an offer', () => ({ issuer_state: undefined })],
    ['for an unknown offer', () => ({ issuer_state: 'unknown' })],
    ['for an offer of another issuer', async () => (await offered(other)).parameters],
    [
      'with the pre-authorized code of an offer',
      async () => ({ issuer_state: await codeOf((await offer(setup)).credentialOffer) }),
    ],
  ]
  test.each(unredirected)('%s: on a page, and when it is pushed', async (_, change) => {
    const { parameters } = await offered(setup)
    const changed = { ...parameters, ...(await change(parameters)) }
    const { status, text, location } = await open(setup, changed)
    expect([status, location]).toEqual([400, undefined])
    expect(text).not.toContain('<form')
    expect(errorOf(await push(setup, changed))).toEqual([400, 'invalid_request'])
  })

  test('with a repeated parameter', async () => {
    const { parameters } = await offered(setup)
    const query = new URLSearchParams(parameters as Record<string, string>).toString()
    expect((await open(setup, `${query}&state=other`)).status).toBe(400)
  })

  test('with a redirect URI of an app or of this machine it is not', async () => {
    const { parameters } = await offered(setup)
    for (const redirect_uri of ['com.example.wallet:/cb', 'http://127.0.0.1:8080/cb', 'http://[::1]/cb'])
      expect((await open(setup, { ...parameters, redirect_uri })).status).toBe(200)
  })
})

describe('a pushed request', () => {
  const pushed = async (parameters: Parameters) => (await push(setup, parameters)).body.request_uri as string

  test('is for its client and its issuer alone, and cannot be changed', async () => {
    const { parameters } = await offered(setup)
    const request_uri = await pushed(parameters)
    const query = { client_id: 'wallet', request_uri }
    expect((await open(other, query)).status).toBe(400)
    expect((await open(setup, { ...query, client_id: 'thief' })).status).toBe(400)
    const altered = `${request_uri.slice(0, -9)}${request_uri.at(-9) === 'A' ? 'B' : 'A'}${request_uri.slice(-8)}`
    expect((await open(setup, { ...query, request_uri: altered })).status).toBe(400)
    // Parameters beside it are ignored (RFC 9126 §4).
    const page = await open(setup, { ...query, redirect_uri: 'https://thief.example' })
    expect(page.headers.get('content-security-policy')).toContain('https://wallet.example;')
  })

  /** Two pages of a request, and its forms. */
  async function shownTwice() {
    const { parameters, txCode, verifier } = await offered(setup)
    const query = { client_id: 'wallet', request_uri: await pushed(parameters) }
    const requests = [sealedIn(await open(setup, query)), sealedIn(await open(setup, query))]
    const send = (index: number, decision: 'accept' | 'decline', code = txCode) =>
      answer(setup, { request: requests[index], decision, tx_code: code })
    return { query, txCode, verifier, send }
  }

  test('may be shown again, and gets one code, also if its form comes twice', async () => {
    const { query, verifier, send } = await shownTwice()
    const [first, ...others] = await Promise.all([send(0, 'accept'), send(0, 'accept'), send(1, 'accept')])
    expect(first.status).toBe(303)
    const code = first.location!.searchParams.get('code')!
    for (const { location } of others) expect(location!.href).toBe(first.location!.href)
    expect((await send(0, 'decline')).status).toBe(410)
    expect((await open(setup, query)).status).toBe(410)
    expect((await redeemAuthorized(setup, { code, verifier })).status).toBe(200)
    // The wallet has the code. Sending it once more would revoke its access token.
    expect((await send(0, 'accept')).status).toBe(410)
  })

  test('does not tell its code without the transaction code', async () => {
    const { txCode, send } = await shownTwice()
    await send(0, 'accept')
    const { status, location } = await send(1, 'accept', txCode === '000000' ? '000001' : '000000')
    expect([status, location]).toEqual([400, undefined])
  })

  test('is declined once, also if its form comes twice', async () => {
    const { send } = await shownTwice()
    const replies = await Promise.all([send(0, 'decline'), send(0, 'decline'), send(1, 'decline')])
    for (const { location } of replies) expect(location!.searchParams.get('error')).toBe('access_denied')
    expect((await send(0, 'accept')).status).toBe(410)
  })

  test.each(['pushed', 'form'] as const)(
    'whose time is over is closed, not unreadable: %s',
    async (purpose) => {
      const { parameters } = await offered(setup)
      const request_uri = await pushed(parameters)
      const query = { client_id: 'wallet', request_uri }
      const { agent, tenant, issuerId } = setup
      const aged = (text: string) =>
        agent.agent.wallets.use(tenant.walletId, async (wallet) => {
          const context = `authorization-request:${purpose}:${issuerId}`
          const opened = JSON.parse(wallet.unseal(context, text)) as object
          return wallet.seal(context, JSON.stringify({ ...opened, endsMs: 1 }))
        })
      const [, prefix, sealed] = /^(.*:)(.*)$/.exec(request_uri)!
      const shown =
        purpose === 'pushed'
          ? await open(setup, { ...query, request_uri: prefix! + (await aged(sealed!)) })
          : await answer(setup, {
              request: await aged(sealedIn(await open(setup, query))),
              decision: 'accept',
            })
      expect([shown.status, shown.text]).toEqual([410, expect.stringContaining('has expired')])
    },
  )

  test('has no request_uri itself, and is not a form of a page', async () => {
    const { parameters } = await offered(setup)
    const request_uri = await pushed(parameters)
    expect(errorOf(await push(setup, { ...parameters, request_uri }))).toEqual([400, 'invalid_request'])
    const fields = { request: request_uri.split(':').at(-1)!, decision: 'decline' }
    expect((await answer(setup, fields)).status).toBe(400)
  })
})

describe('the page', () => {
  test('sends a refusal to the wallet, and the offer stays open', async () => {
    const { parameters, txCode } = await offered(setup)
    const page = await open(setup, parameters)
    const { location } = await answer(setup, { request: sealedIn(page), decision: 'decline' })
    expect(location!.searchParams.get('error')).toBe('access_denied')
    expect(await consent(setup, parameters, txCode)).toEqual(expect.any(String))
  })

  test('counts wrong codes, and blocks the offer after five', async () => {
    const { parameters, txCode, recordId } = await offered(setup, {
      txCode: { length: 4, description: 'In the <b>letter</b>' },
    })
    const wrong = txCode === '0000' ? '0001' : '0000'
    let page = await open(setup, parameters)
    expect(page.text).toContain('In the &lt;b&gt;letter&lt;/b&gt;')
    for (const left of ['4 more times', '3 more times', '2 more times', 'once more']) {
      page = await answer(setup, { request: sealedIn(page), decision: 'accept', tx_code: wrong })
      expect([page.status, page.location]).toEqual([400, undefined])
      expect(page.text).toContain(`You can try ${left}.`)
    }
    const last = await answer(setup, { request: sealedIn(page), decision: 'accept', tx_code: wrong })
    expect(last.location!.searchParams.get('error')).toBe('access_denied')
    const late = await answer(setup, { request: sealedIn(page), decision: 'accept', tx_code: txCode })
    expect(late.location!.searchParams.get('code')).toBeNull()
    expect((await recordOf(setup, recordId)).protocolState).toBe('OfferBlocked')
  })

  test('counts a wrong code once if its form comes twice', async () => {
    const { parameters, txCode } = await offered(setup)
    const request = sealedIn(await open(setup, parameters))
    const wrong = { request, decision: 'accept', tx_code: txCode === '000000' ? '000001' : '000000' }
    for (const page of await Promise.all([answer(setup, wrong), answer(setup, wrong)]))
      expect(page.text).toContain('You can try 4 more times.')
  })

  test.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('refuses a form that a page of another site sends: %j', async (headers) => {
    const { parameters, txCode } = await offered(setup)
    const page = await open(setup, parameters)
    const fields = { request: sealedIn(page), decision: 'accept', tx_code: txCode }
    const { status, location } = await answer(setup, fields, headers)
    expect([status, location]).toEqual([403, undefined])
    const own = { origin: setup.agent.url, 'sec-fetch-site': 'same-origin' }
    expect((await answer(setup, fields, own)).status).toBe(303)
  })

  test('refuses a form that it did not make, or that another issuer made', async () => {
    const { parameters, txCode } = await offered(other)
    const page = await open(other, parameters)
    const fields = { request: sealedIn(page), decision: 'accept', tx_code: txCode }
    expect((await answer(setup, fields)).status).toBe(400)
    expect((await answer(setup, { ...fields, request: 'unknown' })).status).toBe(400)
    expect((await answer(other, { ...fields, decision: 'perhaps' })).status).toBe(400)
  })
})

describe('the token endpoint refuses', () => {
  const authorized = async () => {
    const { parameters, txCode, verifier, recordId } = await offered(setup)
    return { code: await consent(setup, parameters, txCode), verifier, recordId }
  }
  const rows: [string, Parameters, string][] = [
    ['of another client', { client_id: 'thief' }, 'invalid_grant'],
    ['with another redirect URI', { redirect_uri: 'https://wallet.example/cb' }, 'invalid_grant'],
    ['with another verifier', { code_verifier: newPkce().verifier }, 'invalid_grant'],
    ['without a verifier', { code_verifier: undefined }, 'invalid_request'],
    ['without a client', { client_id: undefined }, 'invalid_request'],
    ['without a redirect URI', { redirect_uri: undefined }, 'invalid_request'],
    ['without a code', { code: undefined }, 'invalid_request'],
    ['of another grant', { grant_type: 'password' }, 'unsupported_grant_type'],
  ]
  test.each(rows)('a request %s, and the code stays usable', async (_, change, error) => {
    const code = await authorized()
    expect(errorOf(await redeemAuthorized(setup, code, change))).toEqual([400, error])
    expect((await redeemAuthorized(setup, code)).status).toBe(200)
  })

  test('the challenge as verifier', async () => {
    const { parameters, txCode } = await offered(setup)
    const code = await consent(setup, parameters, txCode)
    const verifier = parameters['code_challenge']!
    expect(errorOf(await redeemAuthorized(setup, { code, verifier }))).toEqual([400, 'invalid_grant'])
  })

  test('a code that was redeemed, and the access token is revoked', async () => {
    const code = await authorized()
    const { body } = await redeemAuthorized(setup, code)
    expect(errorOf(await redeemAuthorized(setup, code))).toEqual([400, 'invalid_grant'])
    const reply = await request(setup, { token: body.access_token, jwt: await prove(setup) })
    expect(errorOf(reply)).toEqual([401, 'invalid_token'])
    expect((await recordOf(setup, code.recordId)).metaLastFailure?.detail).toContain('sent twice')
  })

  test('of concurrent requests with one code, all but one', async () => {
    const code = await authorized()
    const replies = await Promise.all([1, 2, 3].map(() => redeemAuthorized(setup, code)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('a code of another issuer', async () => {
    expect(errorOf(await redeemAuthorized(other, await authorized()))).toEqual([400, 'invalid_grant'])
  })

  test('a code of an earlier consent, when another wallet got one', async () => {
    const { parameters, txCode, verifier } = await offered(setup)
    const [first, second] = [
      await consent(setup, parameters, txCode),
      await consent(setup, parameters, txCode),
    ]
    expect(errorOf(await redeemAuthorized(setup, { code: first, verifier }))).toEqual([400, 'invalid_grant'])
    expect((await redeemAuthorized(setup, { code: second, verifier })).status).toBe(200)
  })

  test('a code of the other grant', async () => {
    const { code } = await authorized()
    const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': code }
    expect(errorOf(await redeem(setup, form))).toEqual([400, 'invalid_grant'])
    const preAuthorized = await codeOf((await offer(setup)).credentialOffer)
    const reply = await redeemAuthorized(setup, { code: preAuthorized, verifier: newPkce().verifier })
    expect(errorOf(reply)).toEqual([400, 'invalid_grant'])
  })
})

test('an offer that the tenant withdraws cannot be authorized', async () => {
  const { parameters, txCode, recordId } = await offered(setup)
  const { body } = await push(setup, parameters)
  const page = await open(setup, parameters)
  await setup.tenant.call('DELETE /issue-credentials/records/{recordId}', { path: { recordId } })
  expect((await open(setup, { client_id: 'wallet', request_uri: body.request_uri })).status).toBe(404)
  const fields = { request: sealedIn(page), decision: 'accept', tx_code: txCode }
  expect((await answer(setup, fields)).status).toBe(404)
})

test('an offer that was redeemed cannot be authorized again', async () => {
  const { parameters, txCode, verifier } = await offered(setup)
  const page = await open(setup, parameters)
  await redeemAuthorized(setup, { code: await consent(setup, parameters, txCode), verifier })
  expect((await open(setup, parameters)).status).toBe(410)
  const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept', tx_code: txCode })
  expect(location!.searchParams.get('error')).toBe('invalid_request')
})
