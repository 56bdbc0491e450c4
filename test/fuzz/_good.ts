/** Valid requests for operations whose schema alone is not enough: with existing ids in the right state. */
import { randomUUID } from 'node:crypto'
import type { Routes } from '../../daemon/routes/index.ts'
import type { Draw } from './_draw.ts'

export type Case = {
  path?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: unknown
}

/** `find` returns the newest value of the first name that has any. */
export type Around = {
  draw: Draw
  find: (...names: string[]) => string
  url: string
  sinkUrl: string
  partyDid: string
  /** Opens the export of the exported wallet. */
  passphrase: string
  oob: () => string
  answer: (nonce: string) => object
  operation: () => string
  masterKey: () => string
  object: () => string
}

type Row = (around: Around) => Case

export const purposes = ['authentication', 'assertionMethod'] as const
const jsonSchema = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'
let versions = 0
/** Greater than all previous values. */
const version = () => `1.${++versions}.0`
const personSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { name: { type: 'string', maxLength: 100, pattern: '^[A-Z]' }, age: { type: 'integer' } },
  required: ['name'],
}
const claims = { name: 'Alice', age: 42, address: { city: 'Zürich', lines: ['a', 'b'] } }

const offer: Row = ({ draw, find }) => ({
  body: {
    connectionId: find('live connection'),
    issuingDID: find('issuing DID'),
    claims,
    credentialFormat: draw.of(['JWT', 'SDJWT']),
    automaticIssuance: draw.share(0.5),
    validityPeriod: 3_600,
    ...(draw.share(0.2) && { schemaId: find('schema URL') }),
  },
})
const proof: Row = ({ draw, find }) => {
  const format = draw.of(['JWT', 'SDJWT'])
  return {
    body: {
      connectionId: find('live connection'),
      options: { challenge: randomUUID(), domain: 'https://verifier.example' },
      proofs: draw.share(0.3) ? [{ schemaId: find('schema URL'), trustIssuers: [find('issuing DID')] }] : [],
      credentialFormat: format,
      ...(format === 'SDJWT' && { claims: { name: {} } }),
    },
  }
}
const schema: Row = ({ draw, find }) => ({
  body: {
    name: `schema ${draw.below(1e9)}`,
    version: version(),
    type: jsonSchema,
    author: find('issuing DID'),
    tags: ['a'],
    schema: personSchema,
  },
})
const nextSchema: Row = (around) => ({
  ...schema(around),
  path: { id: around.find('id of /schema-registry/schemas') },
})
const policy = ({ find }: Around) => ({
  name: 'policy',
  description: 'of the fuzz',
  constraints: [{ schemaId: find('schema URL'), trustedIssuers: [find('issuing DID')] }],
})
const ofDid: Row = ({ find }) => ({ path: { didRef: find('did CREATED', 'longFormDid', 'did') } })
const definition = {
  name: 'a person',
  input_descriptors: [
    {
      id: 'name',
      constraints: {
        fields: [
          { path: ['$.vc.credentialSubject.name', '$.name'], filter: { type: 'string', pattern: '^A' } },
        ],
      },
    },
  ],
}
const keys = (draw: Draw, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: `key-${at + 1}`,
    purpose: draw.of(purposes),
    curve: draw.of(['secp256k1', 'Ed25519']),
  }))
/** An existing or an invented challenge. */
function openChallenge({ find, url }: Around): { submissionEndpoint: string; nonce: string } {
  const found = find('open challenge')
  return found.startsWith('{')
    ? JSON.parse(found)
    : { submissionEndpoint: `${url}/did-authentication/challenge-submissions/${found}`, nonce: found }
}
const submission: Row = ({ find }) => ({
  path: { didRequestSubmissionId: find('id of /onboard') },
  body: { did: find('subject DID') },
})

// prettier-ignore
export const good: Readonly<Partial<Record<Routes[number]['key'], Row>>> = {
  'POST /did-registrar/dids': ({ draw }) => ({ body: { documentTemplate: { publicKeys: keys(draw, draw.share(0.1) ? 40 : 1), services: [{ id: 'service', type: 'LinkedDomains', serviceEndpoint: 'https://example.com/' }] } } }),
  'POST /did-registrar/dids/{didRef}/publications': ofDid,
  'POST /did-registrar/dids/{didRef}/updates': ({ draw, find }) => ({ path: { didRef: find('did PUBLISHED') }, body: { actions: [{ actionType: 'ADD_KEY', addKey: { id: `key-${draw.below(1e6)}`, purpose: 'keyAgreement', curve: 'X25519' } }] } }),
  'POST /did-registrar/dids/{didRef}/deactivations': ({ find }) => ({ path: { didRef: find('did PUBLISHED') } }),
  'GET /dids/{didRef}': ({ draw, find, partyDid }) => ({ path: { didRef: draw.of([find('longFormDid'), find('did PUBLISHED'), partyDid]) } }),
  'GET /web/{name}/did.json': ({ find }) => ({ path: { name: find('web name') } }),
  'POST /connection-invitations': ({ draw, find, oob }) => ({ body: { invitation: draw.share(0.5) ? oob() : find('_oob') } }),
  'GET /invitation': ({ find }) => ({ query: { _oob: find('_oob') } }),
  'POST /issue-credentials/credential-offers': offer,
  'POST /issue-credentials/credential-offers/invitation': (around) => ({ body: { ...(offer(around).body as object), connectionId: undefined } }),
  'POST /issue-credentials/credential-offers/accept-invitation': ({ find }) => ({ body: { invitation: find('offer _oob') } }),
  'DELETE /issue-credentials/records/{recordId}': ({ find }) => ({ path: { recordId: find('recordId CredentialReceived') } }),
  'GET /issue-credentials/records/{recordId}/credential': ({ find }) => ({ path: { recordId: find('recordId CredentialReceived') } }),
  'POST /issue-credentials/records/{recordId}/accept-offer': ({ draw, find }) => ({ path: { recordId: find('recordId OfferReceived') }, body: { subjectId: find('subject DID'), ...(draw.share(0.7) && { keyId: 'key-1' }) } }),
  'POST /issue-credentials/records/{recordId}/reject-offer': ({ find }) => ({ path: { recordId: find('recordId OfferReceived') } }),
  'POST /issue-credentials/records/{recordId}/issue-credential': ({ find }) => ({ path: { recordId: find('recordId RequestReceived') } }),
  'PATCH /credential-status/revoke-credential/{id}': ({ find }) => ({ path: { id: find('recordId CredentialSent') } }),
  'POST /present-proof/presentations': proof,
  'POST /present-proof/presentations/invitation': (around) => ({ body: { ...(proof(around).body as object), connectionId: undefined } }),
  'POST /present-proof/presentations/accept-invitation': ({ find }) => ({ body: { invitation: find('request _oob') } }),
  'DELETE /present-proof/presentations/{presentationId}': ({ find }) => ({ path: { presentationId: find('presentationId PresentationSent', 'presentationId PresentationAccepted') } }),
  'GET /present-proof/presentations/{presentationId}/candidates': ({ find }) => ({ path: { presentationId: find('presentationId RequestReceived') } }),
  'PATCH /present-proof/presentations/{presentationId}': ({ draw, find }) => draw.share(0.6)
    ? { path: { presentationId: find('presentationId RequestReceived') }, body: { action: draw.share(0.9) ? 'request-accept' : 'request-reject', proofId: [find('recordId CredentialReceived')], ...(draw.share(0.3) && { claims: { name: {} } }) } }
    : { path: { presentationId: find('presentationId PresentationVerified') }, body: { action: draw.share(0.9) ? 'presentation-accept' : 'presentation-reject' } },
  'GET /api/dids': ({ masterKey }) => ({ query: { masterKey: masterKey() } }),
  'POST /messages': ({ find }) => ({ body: { connectionId: find('live connection'), content: 'hello' } }),
  'GET /messages': ({ find }) => ({ query: { connectionId: find('connectionId') } }),
  'POST /didcomm/unpack': ({ find }) => ({ body: { envelope: find('an envelope') } }),
  'POST /didcomm/pings': ({ draw, find, partyDid }) => ({ body: draw.share(0.5) ? { did: partyDid } : { connectionId: find('live connection') } }),
  'POST /schema-registry/schemas': schema,
  'POST /schema-registry/schemas/did-url': schema,
  'PUT /schema-registry/schemas/{guid}': nextSchema,
  'PUT /schema-registry/{author}/{id}': (around) => { const { body } = schema(around); return { path: { id: around.find('id of /schema-registry/schemas'), author: (body as { author: string }).author }, body } },
  'PUT /schema-registry/schemas/did-url/{guid}': (around) => ({ ...schema(around), path: { guid: around.find('id of /schema-registry/schemas/did-url') } }),
  'POST /verification/credential': ({ draw, find }) => ({ body: Array.from({ length: draw.share(0.1) ? 100 : 1 }, () => ({ credential: find('jwt', 'credential'), verifications: ['SignatureVerification', 'ExpirationCheck', 'RevocationCheck', 'SchemaCheck'].map((verification) => ({ verification })) })) }),
  'POST /verification/schema': ({ draw, find }) => ({ body: draw.share(0.5) ? { schemaId: find('schema URL'), claims } : { schema: personSchema, claims } }),
  'POST /verification/policies': (around) => ({ body: policy(around) }),
  'PUT /verification/policies/{id}': (around) => { const [id, nonce = '0'] = around.find('policy and nonce').split(' '); return { path: { id: id! }, query: { nonce }, body: policy(around) } },
  'DELETE /verification/policies/{id}': ({ find }) => ({ path: { id: find('id of /verification/policies') }, query: { nonce: '0' } }),
  'POST /presentation-exchange/presentation-definitions': () => ({ body: definition }),
  'POST /presentation-exchange/presentation-definitions/{id}/evaluations': ({ draw, find }) => ({ path: { id: find('id of /presentation-exchange/presentation-definitions') }, body: draw.share(0.5) ? {} : { credentials: [find('jwt', 'credential')] } }),
  'GET /onboard/did-requests/{didRequestId}': ({ draw, find }) => ({ path: { didRequestId: find('id of /onboard/did-requests') }, query: { wait: String(draw.below(2)) } }),
  'GET /did-authentication/challenges/{challengeId}': ({ draw, find }) => ({ path: { challengeId: find('id of /did-authentication/challenges') }, query: { wait: String(draw.below(2)) } }),
  'POST /onboard/{didRequestSubmissionId}': submission,
  'POST /onboard/answers': ({ draw, find }) => ({ body: { didRequest: { onboardEndpoint: find('onboardEndpoint') }, ...(draw.share(0.5) && { did: find('subject DID') }), decline: draw.share(0.1) } }),
  'POST /did-authentication/challenge-submissions/{challengeSubmissionId}': (around) => {
    const { submissionEndpoint, nonce } = openChallenge(around)
    return { path: { challengeSubmissionId: submissionEndpoint.split('/').at(-1)! }, body: around.answer(nonce) }
  },
  'POST /did-authentication/challenges/{challengeId}/token': ({ find }) => ({ path: { challengeId: find('id success', 'id of /did-authentication/challenges') } }),
  'POST /did-authentication/answers': (around) => ({ body: { challenge: openChallenge(around), did: around.find('subject DID') } }),
  'POST /events/webhooks': ({ draw, sinkUrl }) => ({ body: { url: sinkUrl, customHeaders: { authorization: 'Bearer x' }, signed: draw.share(0.5) } }),
  'POST /events/webhooks/{id}/replay': ({ draw, find }) => ({ path: { id: find('id of /events/webhooks') }, body: draw.share(0.5) ? { eventId: find('event id') } : { failed: true } }),
  'GET /events': ({ find }) => ({ query: { walletId: find('walletId') } }),
  'GET /events/{id}': ({ find }) => ({ path: { id: find('event id') }, query: { walletId: find('walletId') } }),
  'GET /traces/{id}': ({ find }) => ({ path: { id: find('thid', 'recordId', 'connectionId') } }),
  'POST /api/submissions/signed-operations': ({ operation }) => ({ body: { signed_operations: [operation()] } }),
  'POST /api/submissions/objects': ({ object }) => ({ body: { object: object() } }),
  'DELETE /iam/entities/{id}/api-keys/{keyId}': ({ find }) => { const [id, keyId] = find('entity and key').split(' '); return { path: { id: id!, keyId: keyId ?? randomUUID() } } },
  'DELETE /iam/apikey-authentication': ({ find }) => { const [entityId, apiKey] = find('entity and secret').split(' '); return { body: { entityId, apiKey } } },
  'GET /api/operations/{operationId}': ({ find }) => ({ path: { operationId: find('operation_ids') } }),
  'GET /api/transactions/{transactionId}': ({ find }) => ({ path: { transactionId: find('tx_id') } }),
  'GET /api/dids/{did}': ({ find }) => ({ path: { did: find('did PUBLISHED') } }),
  'GET /api/dids/{did}/protobuf': ({ find }) => ({ path: { did: find('did PUBLISHED') } }),
  'POST /iam/entities': ({ find }) => ({ body: { name: 'entity', walletId: find('walletId') } }),
  'POST /wallets': ({ draw }) => ({ body: { name: `wallet ${draw.below(1e6)}` } }),
  'POST /iam/entities/{id}/api-keys': ({ draw, find }) => ({ path: { id: find('id of /iam/entities') }, body: { name: 'key', ...(draw.share(0.5) && { scopes: ['read'] }), ...(draw.share(0.5) && { expiresAt: '2999-01-01T00:00:00Z' }) } }),
  'POST /wallets/{walletId}/export': ({ draw, passphrase }) => ({ body: { passphrase, move: draw.share(0.5) } }),
  'POST /wallets/import': ({ passphrase }) => ({ headers: { 'x-passphrase': Buffer.from(passphrase).toString('base64url') } }),
  'POST /_system/master-key/rotation': () => ({ body: {} }),
}
