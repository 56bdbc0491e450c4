/** Requests to every endpoint of tenants with ids of another tenant, made of its path, query and body. */
import * as z from 'zod'
import { splitKey, type Route } from '../../daemon/http/route.ts'
import { routes, type Routes } from '../../daemon/routes/index.ts'
import { sampleOf } from '../support/sample.ts'

/** Endpoints that need the administrator's token take no ids of tenants. */
export type Isolated = Exclude<
  Routes[number],
  { contract: { access: 'public' | 'admin' | 'metrics' } }
>['key']

/** The owner's ids, by kind. */
const kept = [
  'walletId',
  'did',
  'connection',
  'offer',
  'credential',
  'thid',
  'request',
  'schema',
  'schemaGuid',
  'didUrlSchema',
  'didUrlGuid',
  'policy',
  'definition',
  'event',
  'issuer',
  'entry',
] as const
type Kept = (typeof kept)[number]

/** The kinds of ids that a path names, by its beginning. A POST to the collection makes those of other paths. */
const named: Readonly<Record<string, readonly Kept[]>> = {
  '/wallets/{walletId}': ['walletId'],
  '/did-registrar/dids/{didRef}': ['did'],
  '/connections/{connectionId}': ['connection'],
  '/issue-credentials/records/{recordId}': ['offer', 'credential'],
  '/credential-status/revoke-credential/{id}': ['offer', 'credential'],
  '/present-proof/presentations/{presentationId}': ['request'],
  '/oid4vci/issuers/{issuerId}': ['issuer'],
  '/schema-registry/schemas/{guid}': ['schema'],
  '/schema-registry/schemas/did-url/{guid}': ['didUrlSchema'],
  '/verification/policies/{id}': ['policy'],
  '/presentation-exchange/presentation-definitions/{id}': ['definition'],
  '/events/{id}': ['event'],
  '/traces/{id}': ['thid', 'connection', 'offer', 'request'],
}

/** The kinds of ids in members of bodies and queries. */
const fields: Readonly<Record<string, keyof Ids>> = {
  certificateId: '/issuer-certificates/{id}',
  issuerCertificateId: '/issuer-certificates/{id}',
  attestationCertificateId: '/issuer-certificates/{id}',
  connectionId: 'connection',
  issuerId: 'issuer',
  issuingDID: 'did',
  subjectId: 'did',
  author: 'did',
  policyId: 'policy',
  eventId: 'event',
  walletId: 'walletId',
  thid: 'thid',
}

/** Members that are not ids of records. */
const names = ['configurationId', 'credentialConfigurationId', 'clientId', 'keyId', 'didKeyId', 'schemaId']

const isolated = (routes as readonly Route[]).filter(
  ({ contract: { access } }) => access === 'tenant' || access === 'admin-or-tenant',
)
const resourceOf = (path: string) => /^.*?\{\w+\}/.exec(path)?.[0]

/** The other resources of tenants: the paths that name one. Each is a kind of ids, too. */
export const made = [...new Set(isolated.map(({ key }) => resourceOf(splitKey(key)[1])))].filter(
  (path) => path !== undefined && !(path in named) && path !== '/schema-registry/{author}',
) as `/${string}`[]

export type Ids = Record<Kept | `/${string}`, string>
export const kinds: readonly (keyof Ids)[] = [...kept, ...made]

/** The body of a request, with the ids of a tenant. */
export const bodyOf = ({ contract }: Route, ids: Ids): unknown =>
  contract.body ? sampleOf(contract.body, valuesOf(ids)) : {}

const valuesOf = (ids: Ids) =>
  Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, ids[kind]]))

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

/** The requests that follow from a route: each kind of its path, and each id of its query. */
const rowOf =
  (route: Route): Row =>
  (ids) => {
    const { body: type, query = z.object({}) } = route.contract
    const body = bodyOf(route, ids)
    if (type?.safeParse(body).success === false)
      throw new TypeError(
        `${route.key}: ${JSON.stringify(body)} is not a valid body. Give its type .meta({ examples }), or write its row.`,
      )
    const members = [...membersOf(type ?? query), ...Object.keys(query.shape)]
    const strange = members.find((name) => name.endsWith('Id') && !(name in fields) && !names.includes(name))
    if (strange !== undefined)
      throw new TypeError(
        `${route.key}: ${strange} is of no known kind of ids. Add it to \`fields\` or \`names\`.`,
      )
    const required = Object.entries(sampleOf(query) as object).map(([name, value]) => [name, String(value)])
    const queried = Object.keys(query.shape).filter((name) => name in fields)
    const cases = pathsOf(route, ids).flatMap((each) => [
      { ...each, body, query: Object.fromEntries(required) as Record<string, string> },
      ...queried.map((name) => ({ ...each, body, query: { [name]: ids[fields[name]!]! } })),
    ])
    return cases.filter((each) => hasId(each, ids))
  }

function pathsOf({ key }: Route, ids: Ids): Pick<Case, 'path'>[] {
  const resource = resourceOf(splitKey(key)[1])
  if (!resource) return [{}]
  const [parameter] = /\w+(?=\}$)/.exec(resource)!
  return (named[resource] ?? [resource as `/${string}`]).map((kind) => ({
    path: { [parameter]: ids[kind]! },
  }))
}

/** The names of the members of a body or a query. */
const membersOf = (type: z.ZodType) => {
  const { properties, $ref, $defs } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' })
  return Object.keys(properties ?? $defs?.[$ref?.split('/').at(-1) ?? '']?.properties ?? {})
}

const hasId = (request: Case, ids: Ids) =>
  kinds.some((kind) => JSON.stringify(request).includes(JSON.stringify(ids[kind])))

const nothing: Row = () => []
const bodies =
  (make: (ids: Ids) => unknown): Row =>
  (ids) => [{ body: make(ids) }]
const at =
  (name: string, kind: Kept, body: object): Row =>
  (ids) => [{ path: { [name]: ids[kind] }, body }]

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
// The DID of another tenant would be refused before the id is looked up.
const ofOther = { ...aSchema, author: 'did:web:example.com' }
const dcqlQuery = { credentials: [{ id: 'a', format: 'dc+sd-jwt', meta: { vct_values: ['urn:a'] } }] }
const configuration: Row = ({ issuer }) => [{ path: { issuerId: issuer, credentialConfigId: 'Person' } }]
const entry: Row = (ids) => [
  {
    query: { url: `vdr://?drf=database&drid=database#${ids.entry}` },
    body: 0,
    type: 'application/octet-stream',
  },
]

/** The endpoints whose path and types do not say enough. */
// prettier-ignore
const byHand: Readonly<Partial<Record<Isolated, Row>>> = {
  'PATCH /connections/{connectionId}': at('connectionId', 'connection', { automaticAcceptance: { credentialOffers: false } }),
  'POST /issue-credentials/credential-offers': bodies(({ connection, did }) => ({ connectionId: connection, issuingDID: did, claims: { name: 'Eve' } })),
  'POST /issue-credentials/credential-offers/invitation': bodies(({ did }) => ({ issuingDID: did, claims: { name: 'Eve' } })),
  // Without the certificate, which is looked up before the issuer.
  'PATCH /oid4vci/issuers/{issuerId}': at('issuerId', 'issuer', { authorizationServer: { url: 'https://other.example' } }),
  'POST /oid4vci/issuers/{issuerId}/credential-configurations': at('issuerId', 'issuer', { configurationId: 'Other', format: 'jwt_vc_json', schemaId: 'https://issuer.example/schema' }),
  'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}': configuration,
  'DELETE /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}': configuration,
  'POST /oid4vci/issuers/{issuerId}/media': ({ issuer }) => [{ path: { issuerId: issuer }, body: 0, type: 'application/octet-stream' }],
  'POST /present-proof/presentations/openid4vp': bodies(({ policy }) => ({ dcqlQuery, issuers: 'any', policyId: policy })),
  'POST /present-proof/presentations/openid4vp/requests': nothing,
  'PATCH /present-proof/presentations/{presentationId}': ({ request, credential }) => [{ path: { presentationId: request }, body: { action: 'request-accept', proofId: [credential] } }],
  'POST /schema-registry/schemas': bodies(({ did }) => ({ ...aSchema, author: did })),
  'PUT /schema-registry/schemas/{guid}': at('guid', 'schema', ofOther),
  'PUT /schema-registry/{author}/{id}': ({ schema }) => [{ path: { author: ofOther.author, id: schema }, body: ofOther }],
  'POST /schema-registry/schemas/did-url': bodies(({ did }) => ({ ...aSchema, author: did })),
  'PUT /schema-registry/schemas/did-url/{guid}': at('guid', 'didUrlSchema', ofOther),
  'POST /credential-definition-registry/definitions': bodies(({ did }) => ({ ...aDefinition, author: did })),
  'POST /credential-definition-registry/definitions/did-url': bodies(({ did }) => ({ ...aDefinition, author: did })),
  'POST /verification/schema': nothing,
  'PUT /vdr/entries': entry,
  'DELETE /vdr/entries': entry,
  // Any client that knows its id may read a definition; the evaluation uses the caller's own wallet.
  'POST /presentation-exchange/presentation-definitions/{id}/evaluations': nothing,
  'POST /onboard/answers': nothing,
  'POST /did-authentication/answers': nothing,
  // Another stream has no end.
  'GET /events/stream': ({ walletId }) => [{ query: { walletId } }],
}

export const rows = Object.fromEntries(
  isolated.map((route) => [route.key, byHand[route.key as Isolated] ?? rowOf(route)]),
) as Readonly<Record<Isolated, Row>>

/** Unknown ids with the shape of each kind. */
export const unknown: Ids = Object.fromEntries(
  kinds.map((kind, index) => [
    kind,
    kind === 'did'
      ? `did:prism:${'0123456789abcdef'.repeat(4)}`
      : `f1b2c3d4-0000-4000-8000-0000000000${String(index).padStart(2, '0')}`,
  ]),
) as Ids
