/**
 * Requests to every endpoint of tenants with ids of another tenant. An endpoint without a row does not
 * compile.
 */
import type { Routes } from '../../daemon/routes/index.ts'

/** The owner's ids, by kind. */
export const kinds = [
  'walletId',
  'did',
  'connection',
  'offer',
  'credential',
  'thid',
  'request',
  'ping',
  'schema',
  'schemaGuid',
  'didUrlSchema',
  'didUrlGuid',
  'policy',
  'certificate',
  'anchor',
  'definition',
  'didRequest',
  'challenge',
  'webhook',
  'event',
  'issuer',
  'entry',
] as const
export type Ids = Record<(typeof kinds)[number], string>

/**
 * A request with ids of another tenant in its path, query or body. Its body is valid, so that the ids are
 * looked up.
 */
export type Case = {
  path?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  /** The media type of the body. Default: JSON. */
  type?: string
}

/** The requests of an endpoint that contain an id; empty where it takes none. */
type Row = (ids: Ids) => Case[]

const nothing: Row = () => []
const by =
  (name: string, ...which: (keyof Ids)[]): Row =>
  (ids) =>
    which.map((kind) => ({ path: { [name]: ids[kind] }, body: {} }))
const withBody =
  (row: Row, body: (ids: Ids) => unknown): Row =>
  (ids) =>
    row(ids).map((each) => ({ ...each, body: body(ids) }))
const bodies =
  (...made: ((ids: Ids) => unknown)[]): Row =>
  (ids) =>
    made.map((make) => ({ body: make(ids) }))

export const aSchema = {
  name: 'person',
  version: '1.1.0',
  type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
  schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: {} },
}
const aDefinition = {
  name: 'id card',
  version: '1.0.0',
  tag: 'id',
  schemaId: 'https://issuer.example/schema',
  signatureType: 'CL',
  supportRevocation: false,
}
export const constraints = [
  { schemaId: 'https://example.com/schema', trustedIssuers: ['did:web:example.com'] },
]
const records = by('recordId', 'offer', 'credential')
const presentations = by('presentationId', 'request')
const hook = by('id', 'webhook')
const ofIssuer = by('issuerId', 'issuer')
const configuration: Row = ({ issuer }) => [{ path: { issuerId: issuer, credentialConfigId: 'Person' } }]
const ofEntry: Row = ({ entry }) => [
  {
    query: { url: `vdr://?drf=database&drid=database#${entry}` },
    body: 0,
    type: 'application/octet-stream',
  },
]
const ofWallet: Row = ({ walletId }) => [{ query: { walletId } }]

/** Endpoints that need the administrator's token take no ids of tenants. */
export type Isolated = Exclude<
  Routes[number],
  { contract: { access: 'public' | 'admin' | 'metrics' } }
>['key']

// prettier-ignore
export const rows: Readonly<Record<Isolated, Row>> = {
  'GET /wallets':                              nothing,
  'POST /wallets':                             nothing,
  'GET /wallets/{walletId}':                   by('walletId', 'walletId'),
  'GET /wallets/{walletId}/stats':             by('walletId', 'walletId'),
  'POST /wallets/{walletId}/uma-permissions':  withBody(by('walletId', 'walletId'), () => ({ subject: 'mallory' })),
  'DELETE /wallets/{walletId}/uma-permissions': (ids) => by('walletId', 'walletId')(ids).map((each) => ({ ...each, query: { subject: 'owner' } })),
  'GET /did-registrar/dids':                   nothing,
  'POST /did-registrar/dids':                  nothing,
  'GET /did-registrar/dids/{didRef}':          by('didRef', 'did'),
  'POST /did-registrar/dids/{didRef}/publications':  by('didRef', 'did'),
  'POST /did-registrar/dids/{didRef}/updates': withBody(by('didRef', 'did'), () => ({ actions: [{ actionType: 'REMOVE_KEY', removeKey: { id: 'key-1' } }] })),
  'POST /did-registrar/dids/{didRef}/deactivations': by('didRef', 'did'),
  'POST /did-registrar/restorations':          nothing,
  'POST /connections':                         nothing,
  'GET /connections':                          ({ thid }) => [{ query: { thid } }],
  'GET /connections/{connectionId}':           by('connectionId', 'connection'),
  'PATCH /connections/{connectionId}':         withBody(by('connectionId', 'connection'), () => ({ automaticAcceptance: { credentialOffers: false } })),
  'DELETE /connections/{connectionId}':        by('connectionId', 'connection'),
  'POST /connection-invitations':              nothing,
  'POST /issue-credentials/credential-offers': bodies(({ connection, did }) => ({ connectionId: connection, issuingDID: did, claims: { name: 'Eve' } })),
  'POST /issue-credentials/credential-offers/invitation': bodies(({ did }) => ({ issuingDID: did, claims: { name: 'Eve' } })),
  'POST /invitation': nothing,
  'POST /issue-credentials/credential-offers/accept-invitation': nothing,
  'GET /issue-credentials/records':            ({ thid }) => [{ query: { thid } }],
  'GET /issue-credentials/records/{recordId}': records,
  'DELETE /issue-credentials/records/{recordId}': records,
  'GET /issue-credentials/records/{recordId}/credential': records,
  'POST /issue-credentials/records/{recordId}/accept-offer': withBody(records, ({ did }) => ({ subjectId: did })),
  'POST /issue-credentials/records/{recordId}/reject-offer': records,
  'POST /issue-credentials/records/openid4vci': nothing,
  'POST /issue-credentials/records/{recordId}/begin-authorization': withBody(records, () => ({ redirectUri: 'https://wallet.example/callback' })),
  'POST /issue-credentials/records/{recordId}/complete-authorization': withBody(records, () => ({ state: 'state', code: 'code' })),
  'POST /issue-credentials/records/{recordId}/issue-credential': records,
  'PATCH /credential-status/revoke-credential/{id}': by('id', 'offer', 'credential'),
  // The id of an issuer is public, so that a tenant learns nothing from 409.
  'POST /oid4vci/issuers':                     nothing,
  'GET /oid4vci/issuers':                      nothing,
  'PATCH /oid4vci/issuers/{issuerId}':         withBody(ofIssuer, () => ({ authorizationServer: { url: 'https://other.example' } })),
  'DELETE /oid4vci/issuers/{issuerId}':        ofIssuer,
  'POST /oid4vci/issuers/{issuerId}/credential-configurations': withBody(ofIssuer, () => ({ configurationId: 'Other', format: 'jwt_vc_json', schemaId: 'https://issuer.example/schema' })),
  'GET /oid4vci/issuers/{issuerId}/credential-configurations': ofIssuer,
  'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}': configuration,
  'DELETE /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}': configuration,
  'POST /oid4vci/issuers/{issuerId}/credential-offers': withBody(ofIssuer, ({ did }) => ({ credentialConfigurationId: 'Person', issuingDID: did, claims: { name: 'Eve' } })),
  'POST /present-proof/presentations':         bodies(({ connection }) => ({ connectionId: connection, proofs: [] })),
  'POST /present-proof/presentations/invitation': bodies(({ policy }) => ({ proofs: [], policyId: policy })),
  'POST /present-proof/presentations/openid4vp': bodies(({ policy }) => ({ dcqlQuery: { credentials: [{ id: 'a', format: 'dc+sd-jwt', meta: { vct_values: ['urn:a'] } }] }, issuers: 'any', policyId: policy })),
  'POST /present-proof/presentations/openid4vp/requests': nothing,
  'POST /present-proof/presentations/{presentationId}/digital-credential': withBody(presentations, () => ({ protocol: 'openid4vp-v1-unsigned', data: { error: 'access_denied' } })),
  'POST /present-proof/presentations/{presentationId}/response-code': withBody(presentations, () => ({ responseCode: 'abc' })),
  'POST /present-proof/presentations/accept-invitation': nothing,
  'GET /present-proof/presentations':          ({ thid }) => [{ query: { thid } }],
  'GET /present-proof/presentations/{presentationId}': presentations,
  'DELETE /present-proof/presentations/{presentationId}': presentations,
  'GET /present-proof/presentations/{presentationId}/candidates': presentations,
  'PATCH /present-proof/presentations/{presentationId}': withBody(presentations, ({ credential }) => ({ action: 'request-accept', proofId: [credential] })),
  'GET /messages':                             ({ connection }) => [{ query: { connectionId: connection } }],
  'POST /messages':                            bodies(({ connection }) => ({ connectionId: connection, content: 'hello' })),
  'POST /didcomm/unpack':                      nothing,
  'POST /didcomm/pings':                       bodies(({ connection }) => ({ connectionId: connection })),
  'GET /didcomm/pings/{id}':                   by('id', 'ping'),
  'POST /schema-registry/schemas':             bodies(({ did }) => ({ ...aSchema, author: did })),
  'GET /schema-registry/schemas':              ({ did }) => [{ query: { author: did } }],
  'PUT /schema-registry/schemas/{guid}':       withBody(by('guid', 'schema'), () => ({ ...aSchema, author: 'did:web:example.com' })),
  'PUT /schema-registry/{author}/{id}':        ({ schema }) => [{ path: { author: 'did:web:example.com', id: schema }, body: { ...aSchema, author: 'did:web:example.com' } }],
  'POST /schema-registry/schemas/did-url':     bodies(({ did }) => ({ ...aSchema, author: did })),
  'GET /schema-registry/schemas/did-url':      ({ did }) => [{ query: { author: did } }],
  'PUT /schema-registry/schemas/did-url/{guid}': withBody(by('guid', 'didUrlSchema'), () => ({ ...aSchema, author: 'did:web:example.com' })),
  'POST /credential-definition-registry/definitions': bodies(({ did }) => ({ ...aDefinition, author: did })),
  'GET /credential-definition-registry/definitions': ({ did }) => [{ query: { author: did } }],
  'POST /credential-definition-registry/definitions/did-url': bodies(({ did }) => ({ ...aDefinition, author: did })),
  'GET /credential-definition-registry/definitions/did-url': ({ did }) => [{ query: { author: did } }],
  'POST /verification/credential':             nothing,
  'POST /verification/schema':                 nothing,
  'POST /verification/policies':               nothing,
  'POST /issuer-certificates':                nothing,
  'POST /issuer-certificates/development':    nothing,
  'GET /issuer-certificates':                 nothing,
  'GET /issuer-certificates/{id}':            by('id', 'certificate'),
  'PUT /issuer-certificates/{id}/chain':      withBody(by('id', 'certificate'), () => ({ chain: 'x' })),
  'DELETE /issuer-certificates/{id}':         by('id', 'certificate'),
  'POST /trust-anchors':                      nothing,
  'GET /trust-anchors':                       nothing,
  'GET /trust-anchors/{id}':                  by('id', 'anchor'),
  'DELETE /trust-anchors/{id}':               by('id', 'anchor'),
  'GET /verification/policies':                nothing,
  'GET /verification/policies/{id}':           by('id', 'policy'),
  'PUT /verification/policies/{id}':           ({ policy }) => [{ path: { id: policy }, query: { nonce: '0' }, body: { name: 'x', description: 'x', constraints } }],
  'DELETE /verification/policies/{id}':        ({ policy }) => [{ path: { id: policy }, query: { nonce: '0' } }],
  'POST /vdr/entries':                         nothing,
  'PUT /vdr/entries':                          ofEntry,
  'DELETE /vdr/entries':                       ofEntry,
  'POST /presentation-exchange/presentation-definitions': nothing,
  'GET /presentation-exchange/presentation-definitions': nothing,
  // Any client that knows its id may read a definition; the evaluation uses the caller's own wallet.
  'POST /presentation-exchange/presentation-definitions/{id}/evaluations': nothing,
  'POST /onboard/did-requests':                nothing,
  'GET /onboard/did-requests':                 nothing,
  'GET /onboard/did-requests/{didRequestId}':  by('didRequestId', 'didRequest'),
  'DELETE /onboard/did-requests/{didRequestId}': by('didRequestId', 'didRequest'),
  'POST /onboard/answers':                     nothing,
  'POST /did-authentication/challenges':       nothing,
  'GET /did-authentication/challenges':        nothing,
  'GET /did-authentication/challenges/{challengeId}': by('challengeId', 'challenge'),
  'DELETE /did-authentication/challenges/{challengeId}': by('challengeId', 'challenge'),
  'POST /did-authentication/challenges/{challengeId}/token': by('challengeId', 'challenge'),
  'POST /did-authentication/answers':          nothing,
  'GET /events/webhooks':                      nothing,
  'POST /events/webhooks':                     nothing,
  'GET /events/webhooks/{id}':                 hook,
  'DELETE /events/webhooks/{id}':              hook,
  'GET /events/webhooks/{id}/deliveries':      hook,
  'POST /events/webhooks/{id}/replay':         withBody(hook, ({ event }) => ({ eventId: event })),
  'POST /events/webhooks/{id}/test':           withBody(hook, () => ({ type: 'ConnectionUpdated' })),
  'POST /events/webhooks/{id}/secret':         hook,
  'DELETE /events/webhooks/{id}/secret':       hook,
  'GET /events':                               ofWallet,
  'GET /events/stream':                        ofWallet,
  'POST /events/test':                         nothing,
  'GET /events/{id}':                          ({ event, walletId }) => [{ path: { id: event } }, { path: { id: event }, query: { walletId } }],
  'GET /traces/{id}':                          by('id', 'thid', 'connection', 'offer', 'request'),
}

/** Unknown ids with the shape of each kind. */
export const unknown: Ids = Object.fromEntries(
  kinds.map((kind, index) => [
    kind,
    kind === 'did'
      ? `did:prism:${'0123456789abcdef'.repeat(4)}`
      : `f1b2c3d4-0000-4000-8000-0000000000${String(index).padStart(2, '0')}`,
  ]),
) as Ids
