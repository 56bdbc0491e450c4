/** Clients of the last release still work: no path or type of the API has become narrower since. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openapi } from '../../daemon/http/openapi.ts'
import { routes } from '../../daemon/routes/index.ts'
import { narrowings, type Document, type Schema } from './_narrowing.ts'

/** The breaks that were decided, with their reasons. CHANGELOG.md has them too. */
const decided: Readonly<Record<string, string>> = {
  'POST /did-registrar/restorations request: any value': 'it has a body now: the DIDs to restore',
  'POST /issue-credentials/records/{}/issue-credential request: any value':
    'it can have claims now; without a body it does what it did',
  'POST /didcomm/unpack 200.message.typ: pattern none instead of ^(application\\/)?didcomm-plain\\+json$':
    'it is always the form that the pattern has with its prefix',
  'POST /iam/apikey-authentication request.apiKey: maxLength 512 instead of 128':
    'the limit of the Cloud Agent',
  'POST /iam/apikey-authentication request.apiKey: minLength 1 instead of 16': 'short keys can be guessed',
  'POST /iam/apikey-authentication request.apiKey: pattern none instead of ^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$':
    'other keys cannot be sent in a header',
  ...Object.fromEntries(
    [
      'GET /issue-credentials/records 200.contents[].protocolState',
      'GET /issue-credentials/records/{} 200.protocolState',
      'POST /issue-credentials/credential-offers 201.protocolState',
      'POST /issue-credentials/credential-offers/accept-invitation 200.protocolState',
      'POST /issue-credentials/credential-offers/invitation 201.protocolState',
      'POST /issue-credentials/records/{}/accept-offer 200.protocolState',
      'POST /issue-credentials/records/{}/issue-credential 200.protocolState',
      'POST /issue-credentials/records/{}/reject-offer 200.protocolState',
    ].map((member) => [
      `${member}: the values ["OfferCreated","OfferRedeemed","RequestDeferred","RequestApproved","OfferBlocked","OfferExpired","AuthorizationPending","IssuanceFailed","CredentialDeferred","OfferRejected"]`,
      'only the records of tenants that offer or receive by OpenID4VCI have these states',
    ]),
  ),
  ...Object.fromEntries(
    [
      'GET /present-proof/presentations 200.contents[].status',
      'GET /present-proof/presentations/{} 200.status',
      'PATCH /present-proof/presentations/{} 200.status',
      'POST /present-proof/presentations 201.status',
      'POST /present-proof/presentations/accept-invitation 200.status',
      'POST /present-proof/presentations/invitation 201.status',
    ].map((member) => [
      `${member}: the values ["RequestCreated","RequestExpired"]`,
      'only the records of tenants that request by OpenID4VP have these states',
    ]),
  ),
  ...Object.fromEntries(
    [
      'GET /connections 200.contents[].automaticAcceptance.credentialFormats[]',
      'GET /connections/{} 200.automaticAcceptance.credentialFormats[]',
      'GET /issue-credentials/records 200.contents[].credentialFormat',
      'GET /issue-credentials/records/{} 200.credentialFormat',
      'GET /issue-credentials/records/{}/credential 200.credentialFormat',
      'GET /present-proof/presentations/{}/candidates 200.candidates[].credentialFormat',
      'GET /present-proof/presentations/{}/candidates 200.others[].credentialFormat',
      'PATCH /connections/{} 200.automaticAcceptance.credentialFormats[]',
      'POST /connection-invitations 200.automaticAcceptance.credentialFormats[]',
      'POST /connections 201.automaticAcceptance.credentialFormats[]',
      'POST /issue-credentials/credential-offers 201.credentialFormat',
      'POST /issue-credentials/credential-offers/accept-invitation 200.credentialFormat',
      'POST /issue-credentials/credential-offers/invitation 201.credentialFormat',
      'POST /issue-credentials/records/{}/accept-offer 200.credentialFormat',
      'POST /issue-credentials/records/{}/issue-credential 200.credentialFormat',
      'POST /issue-credentials/records/{}/reject-offer 200.credentialFormat',
    ].map((member) => [
      `${member}: the values ["MDOC"]`,
      'only the records of tenants that issue or hold mdocs have this format',
    ]),
  ),
  ...Object.fromEntries(
    ['GET /events 200.contents[].type', 'GET /events/{} 200.type', 'POST /events/test 201.type'].map(
      (member) => [
        `${member}: the values ["OfferDeliveryRequested","TransactionCodeDeliveryRequested"]`,
        'only tenants with a webhook that delivers have these events',
      ],
    ),
  ),
  ...Object.fromEntries(
    ['GET /traces/{} 200.pending[].topic', 'GET /traces/{} 200.records[].topic'].map((member) => [
      `${member}: the values ["delivery"]`,
      'only offers that are delivered have such steps',
    ]),
  ),
}

test('nothing is narrower than in release 0.1.0, but for what was decided', () => {
  const file = new URL('../../fixtures/openapi/0.1.0.json.gz', import.meta.url)
  const released = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Document
  const current = JSON.parse(
    JSON.stringify(openapi(routes, { version: '0', url: 'http://agent.example' })),
  ) as Document
  expect(Object.keys(released.paths).length).toBeGreaterThan(90)
  expect(narrowings(released, current).toSorted()).toEqual(Object.keys(decided).toSorted())
})

/** One operation that sends and returns a thing. */
const documentOf = (thing: Schema, more: object = {}): Document => {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } }
  const responses = { 201: { content } }
  const operation = { requestBody: { required: false, content }, responses, security: [{ key: [] }], ...more }
  return { paths: { '/things/{id}': { post: operation } }, components: { schemas: { Thing: thing } } }
}
const thing = {
  type: 'object',
  properties: {
    kind: { type: 'string', enum: ['a', 'b'] },
    name: { type: 'string', minLength: 2, maxLength: 8 },
    count: { type: 'number' },
    list: { type: 'array', items: { type: ['string', 'null'] } },
    when: { type: 'string', format: 'date-time' },
  },
  required: ['kind'],
}
const withMember = (name: string, schema: Schema) =>
  documentOf({ ...thing, properties: { ...thing.properties, [name]: schema } })
const { when: _, ...withoutWhen } = thing.properties
const limit = (name: string) => ({
  name: 'limit',
  in: 'query',
  required: true,
  schema: { type: 'string', enum: [name] },
})

test.each<[string, Document, string[]]>([
  ['nothing', documentOf(thing), []],
  ['a new member', withMember('more', { type: 'string' }), []],
  ['a removed operation', { ...documentOf(thing), paths: {} }, ['removed']],
  [
    'a removed member',
    documentOf({ ...thing, properties: withoutWhen }),
    ['request.when: removed', '201.when: removed'],
  ],
  [
    'a member that is now required',
    documentOf({ ...thing, required: ['kind', 'name'] }),
    ['request.name: required'],
  ],
  ['a member that may be absent', documentOf({ ...thing, required: [] }), ['201.kind: not always there']],
  ['fewer values', withMember('kind', { type: 'string', const: 'a' }), ['request.kind: the values ["b"]']],
  [
    'more values',
    withMember('kind', { type: 'string', enum: ['a', 'b', 'c'] }),
    ['201.kind: the values ["c"]'],
  ],
  ['any value', withMember('kind', {}), ['201.kind: any value']],
  [
    'tighter and wider limits',
    withMember('name', { type: 'string', minLength: 3, maxLength: 9 }),
    ['request.name: minLength 2 instead of 3', '201.name: maxLength 9 instead of 8'],
  ],
  ['a narrower type', withMember('count', { type: 'integer' }), ['request.count: type number']],
  [
    'an alternative less',
    withMember('list', { type: 'array', items: { type: 'string' } }),
    ['request.list[]|1: type null'],
  ],
  [
    'an alternative more',
    withMember('list', {
      type: 'array',
      items: { anyOf: [{ type: 'string' }, { type: 'null' }, { type: 'number' }] },
    }),
    ['201.list[]|2: type number'],
  ],
  ['no format', withMember('when', { type: 'string' }), ['201.when: format none instead of date-time']],
  ['a required parameter', documentOf(thing, { parameters: [limit('a')] }), ['?limit: required']],
  [
    'a required body',
    documentOf(thing, {
      requestBody: { ...documentOf(thing).paths['/things/{id}']!['post']!.requestBody, required: true },
    }),
    ['request: required'],
  ],
  [
    'another status',
    documentOf(thing, { responses: { 200: {} } }),
    ['201: no application/json', '201: removed'],
  ],
  ['another key', documentOf(thing, { security: [{ other: [] }] }), ['key: refused']],
  ['no key', documentOf(thing, { security: [] }), []],
])('the comparison finds %s', (_, changed, lines) => {
  expect(narrowings(documentOf(thing), changed)).toEqual(lines.map((line) => `POST /things/{} ${line}`))
})

test('names of parameters in paths do not matter', () => {
  const { paths, components } = documentOf(thing)
  expect(
    narrowings({ paths, components }, { paths: { '/things/{thingId}': paths['/things/{id}']! }, components }),
  ).toEqual([])
})
