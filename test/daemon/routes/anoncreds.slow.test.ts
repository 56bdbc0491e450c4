/** AnonCreds in `/issue-credentials` and `/present-proof` over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { claims, publishDefinition, type Published } from '../../credentials/anoncreds/_definition.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  presentationIn,
  refusal,
  type Tenant,
} from '../../support/tenants.ts'

const unknown = '00000000-0000-4000-8000-000000000000'

let agent: TestAgent
let [issuer, holder]: Tenant[] = []
let connectionId: string
let published: Published
let [foreign, generating]: string[] = []
let [kept, jwt]: string[] = []
beforeAll(async () => {
  agent = await startAgent()
  issuer = await agent.newTenant('issuer')
  holder = await agent.newTenant('holder')
  connectionId = (await connect(issuer, holder)).inviterConnectionId
  const { did } = await newDid(issuer, 'assertionMethod')
  published = await publishDefinition(agent, issuer, did)
  foreign = (await publishDefinition(agent, holder, (await newDid(holder, 'authentication')).did)).guid
  generating = (await publishDefinition(agent, issuer, did, false)).guid
  kept = await issueTo()
  jwt = (await issue(issuer, holder, connectionId, did, (await newDid(holder, 'authentication')).did))
    .recordId
})
afterAll(() => agent[Symbol.asyncDispose]())

const offer = (change: object) => {
  const good = { connectionId, credentialFormat: 'AnonCreds', credentialDefinitionId: published.guid, claims }
  return issuer!.call('POST /issue-credentials/credential-offers', { body: { ...good, ...change } as never })
}

const acceptOffer = (recordId: string) =>
  holder!.call('POST /issue-credentials/records/{recordId}/accept-offer', { path: { recordId }, body: {} })

/** Issues a credential without manual steps. Returns the holder's record id. */
async function issueTo(): Promise<string> {
  const { thid } = await offer({ automaticIssuance: true })
  const { recordId } = await credentialIn(holder!.call, thid, 'OfferReceived')
  await acceptOffer(recordId)
  await credentialIn(holder!.call, thid, 'CredentialReceived')
  return recordId
}

describe('an offer', () => {
  const properties = () => ({
    issuingDID: published.issuingDID,
    credentialDefinitionId: published.guid,
    claims,
  })
  const flat = { credentialFormat: undefined, credentialDefinitionId: undefined, claims: null }

  test.each<[string, () => object, object]>([
    ['of a definition alone', () => ({}), { automaticIssuance: false }],
    ['with the definition’s issuer', () => ({ issuingDID: published.issuingDID }), {}],
    ['with the definition’s schema', () => ({ schemaId: published.schemaId }), {}],
    [
      'with the current fields',
      () => ({ ...flat, anoncredsVcPropertiesV1: { ...properties(), validityPeriod: 60 } }),
      { validityPeriod: 60 },
    ],
    ['with another issuer, who is not used', () => ({ issuingDID: 'did:prism:abc' }), {}],
    [
      'with the current fields and another issuer',
      () => ({ ...flat, anoncredsVcPropertiesV1: { ...properties(), issuingDID: 'did:prism:abc' } }),
      {},
    ],
    ['with a key of the DID, which does not sign', () => ({ issuingKid: 'key-1' }), {}],
    ['with nulls', () => ({ issuingDID: null, schemaId: null, jwtVcPropertiesV1: null }), {}],
  ])('%s is created', async (_, change, expected) => {
    const record = await offer(change())
    expect(record).toMatchObject({
      credentialFormat: 'AnonCreds',
      role: 'Issuer',
      claims,
      issuingDID: published.issuingDID,
      ...expected,
    })
    expect(record).not.toHaveProperty('subjectId')
  })

  const tooMany = { ...claims, email: 'x', phone: 'y' }
  const of = (credentialDefinitionId: string | undefined) => ({ credentialDefinitionId })
  test.each<[string, () => object, RegExp, number?]>([
    ['without a definition', () => of(undefined), /^credentialDefinitionId: Missing request parameter/],
    ['with a credential definition id that is not an id', () => of('x'), /^credentialDefinitionId: /],
    ['of an unknown definition', () => of(unknown), /no credential definition/, 404],
    ['of another wallet’s definition', () => of(foreign), /no credential definition/, 404],
    ['of a definition without its key', () => of(generating), /is being generated/, 503],
    ['without claims', () => ({ claims: undefined }), /^claims: Missing request parameter/],
    ['that lacks attributes', () => ({ claims: { age: '1' } }), /Given Name.*country/s, 422],
    ['of unknown attributes', () => ({ claims: tooMany }), /email.*phone/s, 422],
    ['with attribute names in another case', () => ({ claims: { ...claims, Age: '1' } }), /Age/, 422],
    ['of numbers', () => ({ claims: { ...claims, age: 30, country: null } }), /\$\.age.*\$\.country/s, 422],
    ['of claims within claims', () => ({ claims: { ...claims, age: { of: '30' } } }), /\$\.age/, 422],
    ['of another schema', () => ({ schemaId: `${published.schemaId}/x` }), /^schemaId: /],
    ['with fields of another format', () => ({ jwtVcPropertiesV1: properties() }), /^jwtVcPropertiesV1: /],
    [
      'of a JWT with a definition',
      () => ({ ...properties(), credentialFormat: 'JWT' }),
      /^credentialDefinitionId: /,
    ],
    ['over no connection', () => ({ connectionId: undefined }), /^connectionId: /],
  ])('%s is refused, and creates nothing', async (_, change, detail, status = 400) => {
    const count = async () =>
      (await issuer!.call('GET /issue-credentials/records', { query: { limit: 1_000 } })).contents.length
    const before = await count()
    expect(await refusal(offer(change()))).toMatchObject({ status, detail: expect.stringMatching(detail) })
    expect(await count()).toBe(before)
  })

  test('is accepted with an empty object, and issued once although the request is repeated', async () => {
    const { thid, recordId: issuers } = await offer({})
    const { recordId } = await credentialIn(holder!.call, thid, 'OfferReceived')
    await Promise.all([acceptOffer(recordId), acceptOffer(recordId)])
    await credentialIn(issuer!.call, thid, 'RequestReceived')
    await acceptOffer(recordId)
    const hand = () =>
      issuer!.call('POST /issue-credentials/records/{recordId}/issue-credential', {
        path: { recordId: issuers },
      })
    await Promise.all([hand(), hand()])
    const received = await credentialIn(holder!.call, thid, 'CredentialReceived')
    await hand()
    const sent = await credentialIn(issuer!.call, thid, 'CredentialSent')
    // The holder's credential is unblinded; its claims are the same.
    const valuesOf = ({ credential }: typeof sent) =>
      JSON.parse(Buffer.from(credential!, 'base64url').toString()).values
    expect(valuesOf(sent)).toEqual(valuesOf(received))
    const events = await agent.agent.wallets.use(holder!.walletId, ({ db }) =>
      db.selectFrom('event').select('data').where('subject', '=', thid).execute(),
    )
    expect(events.map(({ data }) => JSON.parse(data).protocolState)).toEqual([
      'OfferReceived',
      'RequestPending',
      'RequestSent',
      'CredentialReceived',
    ])
    expect(JSON.stringify(events)).not.toMatch(/link_secret|blinded|metadata/)
  })

  test('is accepted automatically where its owner has configured it', async () => {
    const { contents } = await holder!.call('GET /connections')
    const path = { connectionId: contents[0]!.connectionId }
    const say = (automaticAcceptance: object) =>
      holder!.call('PATCH /connections/{connectionId}', {
        path,
        body: { automaticAcceptance: automaticAcceptance as never },
      })
    await say({ credentialOffers: true, credentialFormats: ['AnonCreds'], schemaIds: [published.schemaId] })
    const { thid } = await offer({})
    await credentialIn(holder!.call, thid, 'RequestSent')
    await say({ credentialOffers: false })
  })

  test('works by invitation too', async () => {
    const { connectionId: _, ...body } = {
      connectionId,
      credentialDefinitionId: published.guid,
      claims,
      credentialFormat: 'AnonCreds' as const,
    }
    const { thid, invitation } = await issuer!.call('POST /issue-credentials/credential-offers/invitation', {
      body: { ...body, automaticIssuance: true },
    })
    const { recordId } = await holder!.call('POST /issue-credentials/credential-offers/accept-invitation', {
      body: { invitation: invitation!.invitationUrl },
    })
    await acceptOffer(recordId)
    await credentialIn(holder!.call, thid, 'CredentialReceived')
  })
})

test('a credential is returned decoded, with its definition and its issuer, and without a subject DID', async () => {
  const content = await holder!.call('GET /issue-credentials/records/{recordId}/credential', {
    path: { recordId: kept! },
  })
  expect(content).toEqual({
    recordId: kept,
    credentialFormat: 'AnonCreds',
    issuer: published.issuingDID,
    claims,
    schemas: [published.schemaId],
    definition: published.credDefId,
    standing: { status: 'not-revoked', detail: expect.any(String) },
  })
})

const attributes = (restrictions: object[] = []) => ({
  who: { name: 'Given Name', restrictions },
  where: { name: 'country', restrictions: [] },
})
const predicates = { adult: { name: 'age', p_type: '>=', p_value: 18, restrictions: [] } }
const asking = (change: object = {}) => ({
  name: 'check',
  version: '1.0',
  requested_attributes: attributes(),
  requested_predicates: predicates,
  ...change,
})
/** Requests a proof. `request` is the AnonCreds request, `change` changes the body around it. */
const ask = (request: object | undefined = asking(), change: object = {}) =>
  issuer!.call('POST /present-proof/presentations', {
    body: {
      connectionId,
      credentialFormat: 'AnonCreds',
      anoncredPresentationRequest: request,
      ...change,
    } as never,
  })

describe('a request', () => {
  test.each<[string, () => Promise<{ requestData: string[] }>]>([
    ['is made, and has a nonce', () => ask()],
    ['need not name its format', () => ask(asking(), { credentialFormat: undefined })],
    [
      'has the format name of the Cloud Agent',
      () => ask(asking(), { credentialFormat: undefined, presentationFormat: 'Anoncred' }),
    ],
    [
      'may omit restrictions',
      () => ask(asking({ requested_attributes: { who: { name: 'country' } }, requested_predicates: {} })),
    ],
    ['may have no attributes', () => ask(asking({ requested_attributes: {} }))],
  ])('%s', async (_, made) => {
    const { requestData } = await made()
    expect(JSON.parse(requestData[0]!).nonce).toMatch(/^\d{10,}$/)
    expect(JSON.stringify(JSON.parse(requestData[0]!))).toContain('"restrictions":[]')
  })

  test('stores its nonce unchanged, in any notation', async () => {
    const { requestData } = await ask(asking({ nonce: '987654321' }))
    expect(JSON.parse(requestData[0]!).nonce).toBe('987654321')
    for (const nonce of ['987654321', '000987654321'])
      expect(await refusal(ask(asking({ nonce })))).toMatchObject({
        status: 409,
        detail: expect.stringMatching(/nonce/),
      })
  })

  const attribute = (change: object) =>
    asking({ requested_attributes: { who: { name: 'country', restrictions: [], ...change } } })
  const restricted = (restriction: object) => attribute({ restrictions: [restriction] })
  const predicate = (change: object) =>
    asking({ requested_predicates: { adult: { ...predicates.adult, ...change } } })
  const nothing = asking({ requested_attributes: {}, requested_predicates: {} })
  test.each<[string, object, RegExp]>([
    ['for nothing', nothing, /requested_attributes: must not be empty/],
    ['without a name', asking({ name: undefined }), /name/],
    ['without a version', asking({ version: undefined }), /version/],
    ['without attributes', asking({ requested_attributes: undefined }), /requested_attributes/],
    ['without predicates', asking({ requested_predicates: undefined }), /requested_predicates/],
    ['with a nonce that is not a number', asking({ nonce: 'abc' }), /nonce/],
    ['with a negative nonce', asking({ nonce: '-5' }), /nonce/],
    ['with an attribute without a name', attribute({ name: undefined }), /requested_attributes\.who\.name/],
    [
      'for a group of names',
      attribute({ names: ['age'] }),
      /requested_attributes\.who\.names: .*not supported/,
    ],
    ['with an unknown restriction', restricted({ colour: 'red' }), /restrictions\.0\.colour: is none of/],
    ['with an empty restriction', restricted({}), /restrictions\.0: must not be empty/],
    ['with a restriction that is not a string', restricted({ schema_id: 7 }), /restrictions\.0\.schema_id/],
    ['about revocation', asking({ non_revoked: { from: 1, to: 2 } }), /non_revoked: is not supported/],
    [
      'about an attribute’s revocation',
      attribute({ non_revoked: { from: 1 } }),
      /who\.non_revoked: is not supported/,
    ],
    [
      'about a predicate’s revocation',
      predicate({ non_revoked: { to: 1 } }),
      /adult\.non_revoked: is not supported/,
    ],
    ['with a predicate that is none', predicate({ p_type: '==' }), /p_type/],
    ['with a predicate on a text', predicate({ p_value: '18' }), /p_value/],
    ['with a predicate on a number that is too large', predicate({ p_value: 2 ** 31 }), /p_value/],
    ['with a predicate on a part', predicate({ p_value: 1.5 }), /p_value/],
  ])('%s is refused', async (_, request, detail) => {
    expect(await refusal(ask(request))).toMatchObject({ status: 400, detail: expect.stringMatching(detail) })
  })

  test.each<[string, object, RegExp]>([
    ['without what is asked', { anoncredPresentationRequest: undefined }, /^anoncredPresentationRequest: /],
    ['with claims', { claims: { name: '' } }, /^claims: /],
    ['with schemas', { proofs: [{ schemaId: 'https://x.example' }] }, /^proofs: /],
    ['about a status', { statusCheck: 'off' }, /^statusCheck: /],
    ['for a JWT', { credentialFormat: 'JWT' }, /^anoncredPresentationRequest: /],
    ['in two formats', { presentationFormat: 'JWT' }, /^presentationFormat: /],
  ])('%s is refused', async (_, change, detail) => {
    const refused = await refusal(ask(asking(), change))
    expect(refused).toMatchObject({ status: 400, detail: expect.stringMatching(detail) })
  })
})

describe('an answer', () => {
  const proof = (change: object = {}) => ({
    credential: kept,
    requestedAttribute: ['who', 'where'],
    requestedPredicate: ['adult'],
    ...change,
  })
  const answer = (presentationId: string, body: object) =>
    holder!.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId },
      body: { action: 'request-accept', ...body } as never,
    })
  const by = (...credentialProofs: object[]) => ({ anoncredPresentationRequest: { credentialProofs } })
  const received = async (anoncred: object = asking()) => {
    const { thid } = await ask(anoncred)
    const { presentationId } = await presentationIn(holder!.call, thid, 'RequestReceived')
    return { thid, presentationId }
  }

  // Predicates take most of the time of a proof. `flows/anoncreds.store` answers one by reference.
  const withoutPredicates = { requested_predicates: {} }
  test.each<[string, () => object, object, object?]>([
    [
      'by references, in two parts of one credential',
      () =>
        by(...['who', 'where'].map((name) => proof({ requestedPredicate: [], requestedAttribute: [name] }))),
      { 'Given Name': 'Alice', country: 'SE' },
      withoutPredicates,
    ],
    ['by the credential alone', () => ({ proofId: [kept] }), { 'Given Name': 'Alice', country: 'SE' }],
    [
      'with an unrevealed attribute',
      () =>
        by(proof({ requestedAttribute: ['who'], unrevealedAttribute: ['where'], requestedPredicate: [] })),
      { 'Given Name': 'Alice' },
      withoutPredicates,
    ],
  ])(
    '%s is verified',
    async (_, body, disclosedClaims, change = {}) => {
      const { thid, presentationId } = await received(asking(change))
      await answer(presentationId, body())
      await answer(presentationId, body())
      const verified = await presentationIn(issuer!.call, thid, 'PresentationVerified')
      expect(verified).toMatchObject({
        disclosedClaims,
        proofs: [],
        data: [expect.stringContaining('aggregated_proof')],
      })
      expect(await presentationIn(holder!.call, thid, 'PresentationSent')).toMatchObject({
        data: verified.data,
      })
    },
    30_000,
  )

  test('with invalid content is refused, and the request stays pending', async () => {
    const { thid, presentationId } = await received()
    const cases: [string, object, RegExp, number?][] = [
      ['nothing', {}, /name in credentialProofs/],
      ['an empty list', by(), /name in credentialProofs/],
      ['without predicates', by(proof({ requestedPredicate: undefined })), /requestedPredicate/],
      ['without a predicate', by(proof({ requestedPredicate: [] })), /the predicate adult is not answered/],
      [
        'without an attribute',
        by(proof({ requestedAttribute: ['who'] })),
        /the attribute where is not answered/,
      ],
      [
        'of an unknown reference',
        by(proof({ requestedAttribute: ['who', 'where', 'x'] })),
        /has no attribute x/,
      ],
      ['twice', by(proof(), proof({ requestedPredicate: [] })), /is answered twice/],
      [
        'of two credentials',
        by(proof({ requestedPredicate: [] }), proof({ requestedAttribute: [], credential: jwt })),
        /credentialProofs: a proof uses one credential/,
      ],
      ['of an unknown credential', by(proof({ credential: unknown })), /holds no credential/, 404],
      ['of a JWT', by(proof({ credential: jwt })), /is a JWT, and the request is for AnonCreds/],
      ['for another format', { ...by(proof()), credentialFormat: 'JWT' }, /the request is for AnonCreds/],
      ['with claims', { ...by(proof()), claims: { who: '' } }, /^claims: /],
    ]
    for (const [what, body, detail, status = 400] of cases)
      expect([what, await refusal(answer(presentationId, body))]).toMatchObject([
        what,
        { status, detail: expect.stringMatching(detail) },
      ])
    const others: [object, RegExp][] = [
      [
        { requested_predicates: { adult: { ...predicates.adult, p_value: 31 } } },
        /cannot answer adult: its age is not >= 31/,
      ],
      [
        { requested_attributes: attributes([{ cred_def_id: 'https://x.example' }]) },
        /cannot answer who: cred_def_id must be/,
      ],
      [
        { requested_attributes: { who: { name: 'email' }, where: { name: 'country' } } },
        /cannot answer who: it has no attribute email/,
      ],
    ]
    for (const [change, detail] of others) {
      const { presentationId: id } = await received(asking(change))
      const refused = await refusal(answer(id, by(proof())))
      expect(refused).toMatchObject({ status: 400, detail: expect.stringMatching(detail) })
    }
    await presentationIn(holder!.call, thid, 'RequestReceived')
    const jwts = await issuer!.call('POST /present-proof/presentations', { body: { connectionId } })
    const { presentationId: other } = await presentationIn(holder!.call, jwts.thid, 'RequestReceived')
    expect(await refusal(answer(other, by(proof())))).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/the request is for JWT/),
    })
  })

  test('is previewed: the credentials that match each part, and why others do not', async () => {
    const candidates = (presentationId: string) =>
      holder!.call('GET /present-proof/presentations/{presentationId}/candidates', {
        path: { presentationId },
      })
    const good = await candidates((await received()).presentationId)
    expect(good.candidates.find(({ recordId }) => recordId === kept)).toEqual({
      recordId: kept,
      receivedAt: expect.any(String),
      credentialFormat: 'AnonCreds',
      issuer: published.issuingDID,
      schemas: [published.schemaId],
      claims: expect.arrayContaining(Object.keys(claims)),
      expired: false,
      revoked: false,
      answers: { attributes: ['who', 'where'], predicates: ['adult'] },
    })
    expect(good.others).toMatchObject([{ recordId: jwt, reason: expect.stringMatching(/is a JWT/) }])
    const older = asking({ requested_predicates: { adult: { ...predicates.adult, p_value: 31 } } })
    const bad = await candidates((await received(older)).presentationId)
    expect(bad.candidates).toEqual([])
    expect(bad.others.find(({ recordId }) => recordId === kept)).toMatchObject({
      answers: { attributes: ['who', 'where'], predicates: [] },
      reason: 'It cannot answer adult: its age is not >= 31',
    })
  })
})

test('with AnonCreds disabled, offers and requests are refused with a reason', async () => {
  const without = await sharedAgent({ ENABLE_ANONCRED: 'false' })
  const one = await without.newTenant()
  const { inviterConnectionId } = await connect(one, await without.newTenant())
  const body = {
    connectionId: inviterConnectionId,
    credentialFormat: 'AnonCreds',
    claims,
    credentialDefinitionId: unknown,
  } as const
  const title = 'BadRequest_FeatureDisabled'
  expect(await refusal(one.call('POST /issue-credentials/credential-offers', { body }))).toMatchObject({
    status: 400,
    title,
  })
  const asked = { connectionId: inviterConnectionId, anoncredPresentationRequest: asking() as never }
  expect(await refusal(one.call('POST /present-proof/presentations', { body: asked }))).toMatchObject({
    status: 400,
    title,
  })
})
