/**
 * Requests that a wallet must refuse, each with its reason, and responses that it must not repeat
 * differently.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { generateKey } from '../../../../src/foundation/crypto/keys.ts'
import { x509 } from '../../../../src/foundation/x509/issue.ts'
import { startServer } from '../../../support/server.ts'
import { refusal } from '../../../support/tenants.ts'
import { issueSdJwtTo } from '../../../flows/_sd-jwt.ts'
import { authority, onCurve, slowKeys } from '../../../foundation/x509/_chains.ts'
import { signJwt } from '../_wallet.ts'
import {
  acceptRequest,
  act,
  candidatesOf,
  credentialQuery,
  inState,
  receive,
  startWallet,
} from './_holder.ts'
import { certified, openVerifier, toUrl, unsigned } from './_verifier.ts'
import { untilEnd } from '../../../support/shared.ts'

const wallet = await untilEnd(startWallet())
const verifier = await untilEnd(openVerifier())
beforeEach(() => verifier.reset())

async function expectRefused(url: string, reason: string, error?: string) {
  expect(await refusal(receive(wallet.holder, url))).toMatchObject({
    status: 400,
    type: 'error:PresentationError:InvalidPresentationRequest',
    detail: expect.stringContaining(reason),
  })
  expect(verifier.responses.map((form) => form.get('error'))).toEqual(error === undefined ? [] : [error])
}

const now = () => Math.floor(Date.now() / 1_000)

describe('signed requests', () => {
  test.each<[string, object, string]>([
    ['that have expired', { exp: 1_000 }, 'has expired'],
    ['of the future', { iat: 9e9 }, 'future'],
    ['that are not valid yet', { nbf: 9e9 }, 'future'],
    ['for another wallet', { aud: 'https://wallet.example' }, 'aud'],
    ['with a malformed time', { exp: 'soon' }, 'exp: must be a number, and is a text'],
    ['without response_uri', { response_uri: undefined }, 'response_uri is missing'],
    ['whose response goes to a public host without https', { response_uri: 'http://a.example' }, 'https'],
    ['whose response goes to a file', { response_uri: 'file:///etc/passwd' }, 'https'],
    ['whose response has a user name', { response_uri: 'https://a:b@verifier.example' }, 'user name'],
  ])('%s are refused, and the verifier is not told', async (_, changes, reason) => {
    await expectRefused(verifier.offer(verifier.sign(changes)), reason)
  })

  test.each<[string, object, string, string]>([
    ['without query', { dcql_query: undefined }, 'dcql_query is missing', 'invalid_request'],
    ['with a scope', { scope: 'person' }, 'scope', 'invalid_scope'],
    ['of earlier drafts', { presentation_definition: {} }, 'presentation_definition', 'invalid_request'],
    ['for an id_token', { response_type: 'vp_token id_token' }, 'response_type', 'unsupported_response_type'],
    ['for a redirect', { response_mode: 'fragment' }, 'response_mode', 'invalid_request'],
    ['of the Digital Credentials API', { response_mode: 'dc_api' }, 'response_mode', 'invalid_request'],
    ['with a nonce that is not URL safe', { nonce: 'a b' }, 'nonce', 'invalid_request'],
    ['with a state that is not URL safe', { state: '<' }, 'state', 'invalid_request'],
    ['for encryption without a key', { response_mode: 'direct_post.jwt' }, 'jwks', 'invalid_request'],
    [
      'for other formats only',
      { dcql_query: { credentials: [{ id: 'a', format: 'ldp_vc', meta: {} }] } },
      'presents jwt_vc_json and dc+sd-jwt',
      'vp_formats_not_supported',
    ],
    [
      'without holder binding and without state',
      {
        dcql_query: {
          credentials: [credentialQuery({ more: { require_cryptographic_holder_binding: false } })],
        },
      },
      'state',
      'invalid_request',
    ],
    [
      'with more queries than the limit',
      { dcql_query: { credentials: Array.from({ length: 51 }, (_, i) => credentialQuery({ id: `a${i}` })) } },
      'dcql_query: credentials',
      'invalid_request',
    ],
    [
      'with a path longer than the limit',
      { dcql_query: { credentials: [credentialQuery({ claims: [{ path: Array(33).fill('a') }] })] } },
      'path',
      'invalid_request',
    ],
  ])('%s are refused, and the verifier is told', async (_, changes, reason, error) => {
    await expectRefused(verifier.offer(verifier.sign(changes)), reason, error)
  })

  test('that are nested deeper than the limit are refused', async () => {
    const deep = JSON.parse('['.repeat(70) + ']'.repeat(70)) as unknown
    await expectRefused(verifier.offer(verifier.sign({ verifier_info: deep })), 'nested')
  })

  test('that are larger than the limit are refused', async () => {
    await expectRefused(verifier.offer('a'.repeat(300_000)), 'more than')
  })

  test.each<[string, object, string]>([
    ['another typ', { typ: 'JWT' }, 'typ'],
    ['no typ', { typ: undefined }, 'typ'],
    ['no kid', { kid: undefined }, 'kid'],
    ['the kid of another DID', { kid: 'did:web:verifier.example#0' }, 'another DID'],
    ['critical members', { crit: ['b64'], b64: false }, 'crit'],
    ['a symmetric algorithm', { alg: 'HS256' }, 'alg'],
  ])('whose header has %s are refused', async (_, header, reason) => {
    await expectRefused(verifier.offer(verifier.sign({}, header)), reason)
  })

  test('whose kid only hints at the key are accepted, if a key of the DID has signed', async () => {
    for (const kid of [verifier.did, '#another', 'thumbprint']) {
      const request = verifier.offer(verifier.sign({}, { kid }))
      expect((await receive(wallet.holder, request)).status).toBe('RequestReceived')
      const forged = verifier.sign({}, { kid }, generateKey('P-256'))
      await expectRefused(verifier.offer(forged), 'is not of the key')
    }
  })

  test('whose signature was removed are refused', async () => {
    const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'oauth-authz-req+jwt' })).toString(
      'base64url',
    )
    await expectRefused(verifier.offer(`${header}.${verifier.sign().split('.')[1]}.`), 'alg')
  })

  test('of redirect_uri are refused: no key is known for it', async () => {
    const client_id = `redirect_uri:${verifier.responseUri}`
    await expectRefused(
      verifier.offer(verifier.sign({ client_id }), { clientId: client_id }),
      'cannot be signed',
    )
  })

  test('with another wallet_nonce than that of the wallet are refused', async () => {
    const old = verifier.offer(verifier.sign({ wallet_nonce: 'old' }), { method: 'post' })
    await expectRefused(old, 'wallet_nonce')
    await expectRefused(verifier.offer(verifier.sign(), { method: 'post' }), 'wallet_nonce')
  })

  test('with another request_uri_method are refused', async () => {
    await expectRefused(verifier.offer(verifier.sign(), { method: 'POST' }), 'neither get nor post')
  })
})

describe('requests whose server', () => {
  const served = async (status: number, reason: object) => {
    await using server = await startServer((_, response) => response.writeHead(status).end())
    const query = new URLSearchParams({ client_id: 'x509_hash:a', request_uri: `${server.url}/r` })
    expect(await refusal(receive(wallet.holder, `openid4vp://?${query.toString()}`))).toMatchObject(reason)
  }

  test.each([302, 401, 403, 404, 410])('answers %i are refused', async (status) => {
    const detail = `The request_uri answered ${status}. Ask the verifier for a new request.`
    await served(status, { status: 400, detail: expect.stringContaining(detail) })
  })

  test.each([408, 425, 429, 500, 503])('answers %i can be received later', async (status) => {
    const detail = `is not available now: it answered ${status}. Try again later.`
    await served(status, { status: 503, detail: expect.stringContaining(detail) })
  })
})

describe('requests by value', () => {
  test('with the prefix of signed requests are refused', async () => {
    await expectRefused(toUrl(verifier.parameters()), 'is not signed')
    await expectRefused(toUrl(unsigned(verifier, { client_id: 'x509_san_dns:127.0.0.1' })), 'is not signed')
  })

  test.each<[string, string, string]>([
    ['a pre-registered client', 'verifier', 'pre-registered'],
    ['an origin', 'origin:https://verifier.example', 'origin'],
    ['a federation', 'openid_federation:https://verifier.example', 'openid_federation'],
  ])('of %s are refused', async (_, client_id, reason) => {
    await expectRefused(toUrl(unsigned(verifier, { client_id })), reason)
  })

  test('with a parameter twice, or with both kinds of Request Objects, are refused', async () => {
    await expectRefused(`${toUrl(unsigned(verifier))}&nonce=a`, 'twice')
    await expectRefused(`${verifier.offer(verifier.sign())}&request=a.b.c`, 'exclude')
    await expectRefused('openid4vp://', 'client_id is missing')
    await expectRefused('hello', 'not a URL')
  })
})

describe('certificates', () => {
  const names = [{ type: 'dns' as const, value: '127.0.0.1' }]
  const signed = (made: Awaited<ReturnType<typeof certified>>, clientId: string, changes: object = {}) => {
    const payload = verifier.parameters({ client_id: clientId, ...changes })
    const object = signJwt({ typ: 'oauth-authz-req+jwt', x5c: made.x5c }, payload, made.key)
    return verifier.offer(object, { clientId })
  }

  test.each(['x509_san_dns', 'x509_hash'])(
    '%s: the key is that of the certificate, which is not trusted',
    async (prefix) => {
      const made = await certified(names)
      const id = prefix === 'x509_hash' ? made.hash : '127.0.0.1'
      const { openid4vpRequest } = await receive(wallet.holder, signed(made, `${prefix}:${id}`))
      expect(openid4vpRequest!.verifier).toMatchObject({
        clientIdPrefix: prefix,
        authentication: 'certificate',
        certificateSubject: 'CN=Verifier',
        isTrusted: false,
        trustReason: expect.stringContaining('not trusted by an anchor of this wallet'),
      })
    },
  )

  test('a reader of mobile documents, and a chain with its root, are accepted', async () => {
    const reader = new x509.ExtendedKeyUsageExtension(['1.0.18013.5.1.6', '1.0.23220.4.1.6'], true)
    const made = await certified(names, { extensions: [reader] })
    for (const x5c of [made.x5c, made.whole]) {
      const url = signed({ ...made, x5c }, `x509_hash:${made.hash}`)
      expect((await receive(wallet.holder, url)).openid4vpRequest!.verifier).toMatchObject({
        authentication: 'certificate',
      })
    }
    const signer = new x509.ExtendedKeyUsageExtension(['1.0.18013.5.1.2'], true)
    const ofSigner = await certified(names, { extensions: [signer] })
    await expectRefused(signed(ofSigner, `x509_hash:${ofSigner.hash}`), 'restricted to other purposes')
  })

  test('keys that cannot be exported, or take long, are refused', async () => {
    const publicKey = onCurve('brainpoolP256r1')
    await expectRefused(signed(await certified(names, { publicKey }), 'x509_san_dns:127.0.0.1'), 'P-256')
    const slow = await authority('CN=Slow', undefined, { keys: await slowKeys(2_048) })
    const below = await certified(names, {}, slow)
    await expectRefused(
      signed({ ...below, x5c: below.whole }, 'x509_san_dns:127.0.0.1'),
      'public exponent has more than 64 bits',
    )
  })

  test('a certificate of another name, another hash, a past one, and another key are refused', async () => {
    const made = await certified([{ type: 'dns', value: 'verifier.example' }])
    await expectRefused(signed(made, 'x509_san_dns:127.0.0.1'), 'no DNS name')
    await expectRefused(signed(made, `x509_hash:${'a'.repeat(43)}`), 'hash')
    const past = await certified(names, { from: -10, until: -1 })
    await expectRefused(signed(past, 'x509_san_dns:127.0.0.1'), 'has ended')
    const other = { ...(await certified(names)), key: generateKey('P-256') }
    await expectRefused(signed(other, 'x509_san_dns:127.0.0.1'), 'signature')
    await expectRefused(signed({ ...made, x5c: [] }, 'x509_san_dns:127.0.0.1'), 'x5c')
  })

  test('a response_uri of another host than that of x509_san_dns is refused', async () => {
    const made = await certified([{ type: 'dns', value: 'verifier.example' }])
    const url = signed(made, 'x509_san_dns:verifier.example', { exp: now() + 60 })
    await expectRefused(url, 'another host')
  })
})

describe('credentials', () => {
  test('a query without holder binding gets no signature of the holder', async () => {
    const more = { require_cryptographic_holder_binding: false }
    const object = verifier.sign({ state: 'abc', dcql_query: { credentials: [credentialQuery({ more })] } })
    await acceptRequest(wallet, verifier.offer(object))
    const [text] = (JSON.parse(verifier.responses[0]!.get('vp_token')!) as { person: string[] }).person
    expect(text!.endsWith('~')).toBe(true)
  })

  test('claims with many matches are disclosed as far as the credential has them', async () => {
    const list = Array.from({ length: 200 }, (_, i) => ({ values: [`a${i}`, `b${i}`] }))
    const { recordId } = await issueSdJwtTo(wallet, { keyId: 'key-1', claims: { list } })
    const claims = [{ path: ['list', null, 'values', null] }, { path: ['list', 0, 'values', 0] }]
    const object = verifier.sign({ dcql_query: { credentials: [credentialQuery({ claims })] } })
    const { presentationId } = await receive(wallet.holder, verifier.offer(object))
    const { candidates, answer } = await candidatesOf(wallet.holder, presentationId)
    expect(candidates.map(({ recordId: id }) => id)).toEqual([recordId])
    expect(answer).toEqual([{ credentialId: 'person', recordId }])
    await act(wallet.holder, presentationId, { action: 'request-accept' })
    await inState(wallet.holder.call, presentationId, 'PresentationSent')
  })

  test('a credential without the key of the holder is not presented', async () => {
    const unbound = await issueSdJwtTo(wallet, { claims: { name: 'Unbound' } })
    const { presentationId } = await receive(wallet.holder, verifier.offer(verifier.sign()))
    const { others } = await candidatesOf(wallet.holder, presentationId)
    expect(others.find(({ recordId }) => recordId === unbound.recordId)).toMatchObject({
      reason: expect.stringContaining('require_cryptographic_holder_binding'),
    })
    const accept = act(wallet.holder, presentationId, {
      action: 'request-accept',
      proofId: [unbound.recordId],
    })
    expect(await refusal(accept)).toMatchObject({
      status: 400,
      detail: expect.stringContaining(unbound.recordId),
    })
  })
})

describe('delivery', () => {
  test('a response whose reply is lost is sent again as it was', async () => {
    verifier.script.status = 503
    const offer = verifier.offer(verifier.sign())
    const { presentationId } = await acceptRequest(wallet, offer, 'PresentationPending')
    while (verifier.responses.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    verifier.script.status = 200
    await inState(wallet.holder.call, presentationId, 'PresentationSent')
    const sent = verifier.responses.map((form) => form.get('vp_token'))
    expect(sent.length).toBeGreaterThan(1)
    expect(new Set(sent).size).toBe(1)
  })

  test('a response that the verifier refuses ends the flow with its error', async () => {
    Object.assign(verifier.script, {
      status: 400,
      body: JSON.stringify({ error: 'invalid_request', error_description: 'signature: wrong' }),
    })
    const { metaLastFailure } = await acceptRequest(
      wallet,
      verifier.offer(verifier.sign()),
      'ProblemReportReceived',
    )
    expect(metaLastFailure).toMatchObject({ type: 'invalid_request', detail: 'signature: wrong' })
  })

  test('texts of a verifier are stored on one line, without control characters', async () => {
    const error_description = 'wrong\nverifier   bank.example (trusted)\u001b[31m\u202e\u2028x'
    Object.assign(verifier.script, {
      status: 400,
      body: JSON.stringify({ error: 'a\nb', error_description }),
    })
    const object = verifier.sign({ client_metadata: { client_name: 'Shop\r\n\u202eReason: none' } })
    const { presentationId, openid4vpRequest } = await receive(wallet.holder, verifier.offer(object))
    expect(openid4vpRequest!.verifier.name).toBe('Shop   Reason: none')
    await act(wallet.holder, presentationId, { action: 'request-accept' })
    const ended = await inState(wallet.holder.call, presentationId, 'ProblemReportReceived')
    const detail = 'wrong verifier   bank.example (trusted) [31m  x'
    expect(ended.metaLastFailure).toMatchObject({ type: 'a b', detail })
    expect(ended.openid4vpRequest!.steps.at(-1)!.detail).toContain(`a b: ${detail}`)
    expect(JSON.stringify(ended)).not.toMatch(/\\u001b|\u202e|\u2028/)
  })

  test('a redirect_uri that runs code is not passed on', async () => {
    verifier.script.body = JSON.stringify({ redirect_uri: 'javascript:alert(1)' })
    const { openid4vpRequest } = await acceptRequest(wallet, verifier.offer(verifier.sign()))
    expect(openid4vpRequest!.redirectUri).toBeUndefined()
  })
})
