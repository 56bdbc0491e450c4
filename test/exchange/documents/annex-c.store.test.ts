/** Documents by `org-iso-mdoc` (ISO/IEC TS 18013-7 Annex C): our verifier, our wallet, and one of others. */
import { expect, test } from 'vitest'
import { fromBase64 } from '../../../src/foundation/bytes.ts'
import { decodeCbor } from '../../../src/foundation/cbor/index.ts'
import { readSign1, readX5chain } from '../../../src/foundation/cose/index.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { at } from '../../support/mdoc.ts'
import { untilEnd } from '../../support/shared.ts'
import { newDid, refusal } from '../../support/tenants.ts'
import { failureOf, personQuery, presentationOf } from '../oid4vp/_wallet.ts'
import { submit, submitFromPage } from '../oid4vp/_digital.ts'
import { act, inState, receiveDigital } from '../oid4vp/holder/_holder.ts'
import { docType, namespace, offer, startLicences, take, trust } from './_licence.ts'
import { answerIso, type Answer, authority, issueDocument } from './_iso-wallet.ts'

const setup = await untilEnd(startLicences({ OID4VP_REQUESTS_PER_MINUTE: '100000' }))
const { holder } = setup
const verifier = { agent: setup.agent, tenant: setup.verifier }
await trust(verifier.tenant, authority)
await take(holder, (await offer(setup)).credentialOffer)

const [shop, protocol] = ['https://shop.example', 'org-iso-mdoc'] as const
const membership = 'org.example.membership'
const query = (id: string, type: string, ...names: string[]) => ({
  id,
  format: 'mso_mdoc',
  meta: { doctype_value: type },
  claims: names.map((name) => ({ path: [namespace, name] })),
})
const licenceQuery = query('licence', docType, 'family_name')

/** Requests a licence by pages of the shop. The status lists of the test's wallet cannot be read. */
async function ask(given: object = {}, credentials: object[] = [licenceQuery]) {
  const { presentationId, openid4vp } = await verifier.tenant.call(
    'POST /present-proof/presentations/openid4vp',
    {
      body: {
        issuers: 'trusted',
        statusCheck: 'off',
        responseMode: 'dc_api',
        origins: [shop],
        dcqlQuery: { credentials } as never,
        ...given,
      },
    },
  )
  return { presentationId, openid4vp: openid4vp!, protocol, iso: openid4vp!.isoMdocRequest! }
}

const stateOf = async (id: string) => (await presentationOf(verifier, id)).status
const elements = { family_name: 'Doe', given_name: 'Jo' }
const licence = issueDocument(docType, { [namespace]: elements })
const answer = (request: any, change: Partial<Answer> = {}) =>
  answerIso(request, { documents: [licence], origin: shop, ...change })

test('the record has the request by both protocols, and the protocol of the answer chooses', async () => {
  const asked = await ask()
  expect(asked.openid4vp.digitalRequest!.protocol).toBe('openid4vp-v1-unsigned')
  expect(asked.iso).toMatchObject({ protocol, data: { deviceRequest: expect.any(String) } })
  const reply = await submit(verifier, asked, await answer(asked.iso))
  expect(reply.body).toMatchObject({
    status: 'PresentationVerified',
    openid4vp: {
      credentials: [
        { format: 'mso_mdoc', types: [docType], claims: { [namespace]: { family_name: 'Doe' } } },
      ],
    },
  })
  const { checks, credentials } = reply.body.openid4vp
  expect(checks.every(({ result }: any) => result === 'passed')).toBe(true)
  expect(credentials[0].warnings).toBeUndefined()
  const { presentationId } = await receiveDigital(holder, (await ask()).openid4vp.digitalRequest!, shop)
  expect((await act(holder, presentationId, { action: 'request-accept' })).status).not.toBe('RequestReceived')
})

test('an encrypted request of OpenID4VP has the same key for both protocols', async () => {
  const asked = await ask({ responseMode: 'dc_api.jwt' })
  expect((await submit(verifier, asked, await answer(asked.iso))).body.status).toBe('PresentationVerified')
})

test('several documents in one response answer the queries of their types', async () => {
  const [key, member] = [generateKey('P-256'), { [namespace]: { level: 'gold' } }]
  const queries = [licenceQuery, query('member', membership, 'level')]
  const own = issueDocument(docType, { [namespace]: elements }, key)
  for (const [documents, status] of [
    [[own, issueDocument(membership, member, key)], 'PresentationVerified'],
    [[own, issueDocument(membership, member)], 'PresentationVerificationFailed'],
    [[own], 'PresentationVerificationFailed'],
  ] as const) {
    const asked = await ask({ sameHolder: true }, queries)
    const reply = await submit(verifier, asked, await answer(asked.iso, { documents: [...documents] }))
    expect(reply.body.status).toBe(status)
  }
})

test('the page of the request offers both protocols and takes the answer', async () => {
  const { origin } = new URL(verifier.agent.url)
  const { openid4vp, iso } = await ask({ origins: undefined })
  const { pageUrl } = openid4vp
  const page = await (await fetch(pageUrl, { headers: { accept: 'text/html' } })).text()
  const [, json] = /data-digital-requests="([^"]*)"/.exec(page)!
  const requests = JSON.parse(json!.replaceAll('&quot;', '"').replaceAll('&#34;', '"'))
  expect(requests).toEqual([openid4vp.digitalRequest, iso])
  const reply = await submitFromPage({ pageUrl, protocol }, await answer(iso, { origin }), origin)
  expect(reply.status).toBe(200)
})

const thief = 'https://thief.example'
test.each<[string, string, (request: any) => Promise<object>]>([
  ['for another origin', 'decrypted', (request) => answer(request, { origin: thief })],
  [
    'of another request',
    'decrypted',
    async (request) => {
      const { encryptionInfo } = (await ask()).iso.data as { encryptionInfo: string }
      const own = fromBase64(request.data.encryptionInfo)
      expect(own).not.toEqual(fromBase64(encryptionInfo))
      return answer(request, { encryptionInfo })
    },
  ],
  [
    'for another nonce',
    'decrypted',
    (request) => {
      const info = Buffer.from(fromBase64(request.data.encryptionInfo))
      // The nonce is the first value of the map.
      info.writeUInt8(info.readUInt8(24) ^ 1, 24)
      return answer(request, { encryptionInfo: info.toString('base64url') })
    },
  ],
  [
    'to another key',
    'decrypted',
    (request) => answer(request, { recipient: toPublic(generateKey('P-256')) }),
  ],
  ['that is nothing', 'data.response is missing', () => Promise.resolve({})],
  ['in clear', 'array of dcapi', () => Promise.resolve({ response: licence.issuerSigned })],
  ['that is a number', 'data', () => Promise.resolve({ response: 1 })],
])('a response %s is refused, and the request waits', async (_, reason, make) => {
  const asked = await ask()
  const reply = await submit(verifier, asked, await make(asked.iso))
  expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining(reason)])
  expect(await stateOf(asked.presentationId)).toBe('RequestCreated')
  expect((await submit(verifier, asked, await answer(asked.iso))).body.status).toBe('PresentationVerified')
})

test.each<[string, string, (request: any) => Promise<object>]>([
  [
    // The page of a thief can decrypt what it got, and encrypt it to the request of the shop.
    'that a device has made for another page',
    'holder-binding',
    (request) => answer(request, { signed: { origin: thief } }),
  ],
  [
    'that a device has made for another request',
    'holder-binding',
    async (request) => {
      const { encryptionInfo } = (await ask()).iso.data as { encryptionInfo: string }
      return answer(request, { signed: { encryptionInfo } })
    },
  ],
  [
    'with a document of another type',
    'answer',
    (request) => answer(request, { documents: [issueDocument(membership, { [namespace]: elements })] }),
  ],
  ['with no document', 'answer', (request) => answer(request, { documents: [] })],
  [
    'with two documents of the type',
    'answer',
    (request) => answer(request, { documents: [licence, licence] }),
  ],
  [
    'with more elements than asked',
    'disclosure',
    (request) => answer(request, { elements: ['family_name', 'given_name'] }),
  ],
  ['with less elements than asked', 'query', (request) => answer(request, { elements: [] })],
  [
    'with the document of another person',
    'holder-binding',
    (request) => answer(request, { documents: [{ ...licence, key: generateKey('P-256') }] }),
  ],
])('a response %s ends the request with the failed check', async (_, check, make) => {
  const asked = await ask()
  const reply = await submit(verifier, asked, await make(asked.iso))
  expect(reply).toMatchObject({ status: 200, body: { status: 'PresentationVerificationFailed' } })
  expect((await failureOf(verifier, asked.presentationId))[0]).toMatchObject({ name: check })
})

test('a document of another type whose type is the id of the query does not answer it', async () => {
  const asked = await ask()
  const documents = [issueDocument('licence', { [namespace]: elements })]
  await submit(verifier, asked, await answer(asked.iso, { documents }))
  expect((await failureOf(verifier, asked.presentationId))[0]).toMatchObject({ name: 'query' })
})

const alternatives = { ...licenceQuery, claims: [{ id: 'a', path: [namespace, 'family_name'] }] }
test.each<[string, object, object[]]>([
  ['dcqlQuery.credentials.0.format', {}, personQuery.credentials],
  ['dcqlQuery.credentials.0.claim_sets', {}, [{ ...alternatives, claim_sets: [['a']] }]],
  ['dcqlQuery.credentials.0.claims', {}, [{ ...licenceQuery, claims: undefined }]],
])(
  'what org-iso-mdoc cannot ask is asked by OpenID4VP alone, or refused: %s',
  async (place, given, queries) => {
    const { openid4vp } = await ask({ issuers: 'any', ...given }, queries)
    expect(openid4vp.isoMdocRequest).toBeUndefined()
    expect(openid4vp.digitalRequest).toBeDefined()
    expect(await refusal(ask({ issuers: 'any', ...given, protocols: [protocol] }, queries))).toMatchObject({
      status: 400,
      detail: expect.stringContaining(`protocols: org-iso-mdoc cannot ask this: ${place}`),
    })
  },
)

test('a request by one protocol takes no answer by the other', async () => {
  const iso = await ask({ protocols: [protocol] })
  expect(iso.openid4vp.digitalRequest).toBeUndefined()
  const vpToken = { vp_token: { licence: ['a'] } }
  const wrong = await submit(verifier, { ...iso, protocol: 'openid4vp-v1-unsigned' }, vpToken)
  expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringContaining('protocol is none')])
  expect((await submit(verifier, iso, await answer(iso.iso))).body.status).toBe('PresentationVerified')
  const openId = await ask({ protocols: ['openid4vp'] })
  expect(openId.iso).toBeUndefined()
  const reply = await submit(verifier, openId, { response: 'a' })
  expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining('protocol is none')])
  expect(
    await refusal(ask({ responseMode: 'direct_post', origins: undefined, protocols: [protocol] })),
  ).toMatchObject({
    status: 400,
    detail: expect.stringContaining('protocols: needs the responseMode dc_api'),
  })
})

const profile = 'reader' as const
const newReader = async () => {
  const body = { commonName: 'Shop', profile }
  return verifier.tenant.call('POST /issuer-certificates/development', { body })
}

/** Accepts a request as our wallet. Returns the record with the answer for the page. */
async function accept(request: object, origin: string = shop) {
  const { presentationId } = await receiveDigital(holder, request, origin)
  const record = await act(holder, presentationId, { action: 'request-accept' })
  await inState(holder.call, presentationId, 'PresentationSent')
  return record.openid4vpRequest!
}

test('our wallet answers our verifier', async () => {
  const asked = await ask({ statusCheck: 'required' })
  const { digitalCredential, verifier: shown, dcqlQuery, clientId } = await accept(asked.iso)
  expect(shown).toMatchObject({ authentication: 'origin', responseHost: 'shop.example', isTrusted: false })
  expect(clientId).toBe(`origin:${shop}`)
  expect(dcqlQuery.credentials[0]!.claims![0]).toMatchObject({ intent_to_retain: false })
  const reply = await submit(verifier, asked, digitalCredential!.data)
  expect(reply.body.status).toBe('PresentationVerified')
  expect(reply.body.openid4vp.checks.every(({ result }: any) => result === 'passed')).toBe(true)
})

test('the certificate of a reader signs the request for its only origin, and our wallet verifies that', async () => {
  const { id: certificateId, root, x5c } = await newReader()
  const asked = await ask({ certificateId })
  const readerAuth = at(
    decodeCbor(fromBase64(asked.iso.data['deviceRequest'] as string)),
    'docRequests',
    0,
    'readerAuth',
  )
  expect(readX5chain({ protected: new Map(), unprotected: readSign1(readerAuth).unprotected })).toEqual(x5c)
  const { verifier: stranger } = await accept(asked.iso)
  expect(stranger).toMatchObject({ authentication: 'certificate', isTrusted: false })
  await trust(holder, root!)
  const again = await ask({ certificateId })
  const { verifier: shown, digitalCredential } = await accept(again.iso)
  expect(shown).toMatchObject({ certificateSubject: expect.stringContaining('Shop'), isTrusted: true })
  expect((await submit(verifier, again, digitalCredential!.data)).body.status).toBe('PresentationVerified')
  const stolen = await ask({ certificateId })
  expect(await refusal(receiveDigital(holder, stolen.iso, thief))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('readerAuth'),
  })
  const shared = await ask({ certificateId, origins: [shop, thief] })
  expect(await accept(shared.iso)).toMatchObject({ verifier: { authentication: 'origin' } })
})

test('a DID cannot sign a request by org-iso-mdoc', async () => {
  const { longFormDid: did } = await newDid(verifier.tenant, 'authentication')
  const asked = await ask({ did })
  expect(asked.openid4vp.digitalRequest!.protocol).toBe('openid4vp-v1-signed')
  expect(await accept(asked.iso)).toMatchObject({ verifier: { authentication: 'origin' } })
})

test('the answer of our wallet for another origin is refused', async () => {
  const asked = await ask()
  const { digitalCredential } = await accept(asked.iso, thief)
  const reply = await submit(verifier, asked, digitalCredential!.data)
  expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining('decrypted')])
})

test('our wallet declines', async () => {
  const asked = await ask()
  const { presentationId } = await receiveDigital(holder, asked.iso, shop)
  const { openid4vpRequest } = await act(holder, presentationId, { action: 'request-reject' })
  const { data } = openid4vpRequest!.digitalCredential!
  expect((await submit(verifier, asked, data)).body).toMatchObject({
    status: 'ProblemReportReceived',
    metaLastFailure: { type: 'access_denied' },
  })
})

test.each<[string, object, string]>([
  ['without encryptionInfo', { encryptionInfo: undefined }, 'encryptionInfo'],
  ['whose encryptionInfo cannot be read', { encryptionInfo: 'gmVkY2FwaQ' }, 'encryptionInfo'],
  ['whose deviceRequest cannot be read', { deviceRequest: 'gmVkY2FwaQ' }, 'DeviceRequest'],
])('our wallet refuses a request %s', async (_, change, reason) => {
  const { iso } = await ask()
  const request = { ...iso, data: { ...iso.data, ...change } }
  expect(await refusal(receiveDigital(holder, request, shop))).toMatchObject({
    status: 400,
    detail: expect.stringContaining(reason),
  })
})
