/** A wallet as plain data, with fixed ids and times, of which every pane has something to show. */
import type {
  Connection,
  CredentialRecord,
  Data,
  Event,
  PresentationRecord,
} from '../../../cli/tui/data/data.ts'
import { emptyData } from '../../../cli/tui/data/data.ts'

/** When the frames are drawn. */
export const now = Date.parse('2026-11-20T12:00:00.000Z')

const at = (secondsAgo: number) => new Date(now - secondsAgo * 1_000).toISOString()
const id = (number: number) => `01a20000-0000-7000-8000-${String(number).padStart(12, '0')}`
const did = `did:prism:${'ab'.repeat(32)}`
const otherDid = `did:prism:${'cd'.repeat(32)}`
const peer = `did:peer:2.Ez6LS${'x'.repeat(120)}`

export const invitationUrl = `https://my.domain.com/path?_oob=${'eyJpZCI6Ij'.repeat(30)}`

const connections: Connection[] = [
  {
    connectionId: id(1),
    thid: 'thread-of-bob',
    label: 'Bob',
    role: 'Inviter',
    state: 'ConnectionResponseSent',
    myDid: peer,
    theirDid: peer,
    invitation: {
      id: id(1),
      type: 'https://didcomm.org/out-of-band/2.0/invitation',
      from: peer,
      invitationUrl,
    },
    createdAt: at(7_200),
    updatedAt: at(7_190),
    metaRetries: 5,
    self: id(1),
    kind: 'Connection',
  },
  {
    connectionId: id(2),
    thid: 'thread-of-an-invitation',
    label: 'the shop',
    goal: 'Come in',
    role: 'Inviter',
    state: 'InvitationGenerated',
    invitation: {
      id: id(2),
      type: 'https://didcomm.org/out-of-band/2.0/invitation',
      from: peer,
      invitationUrl,
    },
    createdAt: at(30),
    metaRetries: 5,
    self: id(2),
    kind: 'Connection',
  },
]

const jwt = `e30.${Buffer.from(JSON.stringify({ iss: otherDid })).toString('base64url')}.c2ln`

const credentials: CredentialRecord[] = [
  record(11, 'Holder', 'OfferReceived', 60, { claims: { name: 'Alice', age: 42 } }),
  record(12, 'Issuer', 'RequestReceived', 50, { claims: { name: 'Bob' }, issuingDID: did }),
  record(13, 'Issuer', 'CredentialSent', 40, {
    claims: { degree: { name: 'BSc', year: 2020 } },
    issuingDID: did,
    credential: jwt,
  }),
  record(14, 'Holder', 'CredentialReceived', 35, {
    claims: { name: 'Alice' },
    credentialFormat: 'SDJWT',
    subjectId: did,
  }),
  record(15, 'Holder', 'RequestSent', 33, { claims: { name: 'Alice' } }),
]

function record(
  number: number,
  role: CredentialRecord['role'],
  protocolState: CredentialRecord['protocolState'],
  secondsAgo: number,
  more: Partial<CredentialRecord>,
): CredentialRecord {
  const base = {
    recordId: id(number),
    thid: `thread-${number}`,
    role,
    protocolState,
    connectionId: id(1),
    credentialFormat: 'JWT' as const,
    claims: {},
  }
  return { ...base, createdAt: at(secondsAgo + 5), updatedAt: at(secondsAgo), metaRetries: 5, ...more }
}

const proofs: PresentationRecord[] = [
  proof(21, 'Prover', 'RequestReceived', { requestData: ['{"options":{"domain":"shop.example"}}'] }),
  proof(22, 'Verifier', 'PresentationVerified', {
    connectionId: id(1),
    data: ['an unread token'],
    verification: {
      issuersChecked: true,
      checks: ['nonce', 'trust', 'signature'].map((name) => ({ name: name as 'nonce', result: 'passed' })),
      credentials: [
        {
          format: 'jwt_vc_json',
          issuer: otherDid,
          types: ['VerifiableCredential'],
          holder: did,
          claims: { name: 'Alice', age: 42 },
        },
      ],
    },
  }),
  proof(23, 'Verifier', 'PresentationVerificationFailed', {
    connectionId: id(1),
    metaLastFailure: {
      status: 400,
      type: 'x',
      title: 'it does not hold',
      detail: 'The credential is revoked.',
    },
  }),
]

function proof(
  number: number,
  role: PresentationRecord['role'],
  status: PresentationRecord['status'],
  more: Partial<PresentationRecord>,
): PresentationRecord {
  const base = {
    presentationId: id(number),
    id: id(number),
    createdAt: at(60),
    thid: `thread-${number}`,
    role,
    status,
    proofs: [],
    data: [],
    requestData: [],
  }
  return { ...base, metaRetries: 5, ...more }
}

const webhookId = id(41)
const events: Event[] = [
  event(51, 'IssueCredentialRecordUpdated', 65, { ...credentials[0], protocolState: 'OfferReceived' }),
  event(52, 'IssueCredentialRecordUpdated', 52, { ...credentials[1], protocolState: 'OfferSent' }),
  event(53, 'IssueCredentialRecordUpdated', 50, { ...credentials[1] }),
  event(54, 'PresentationUpdated', 20, { ...proofs[1], status: 'RequestSent' }),
  event(55, 'PresentationUpdated', 18, { ...proofs[1] }),
  event(56, 'DIDStatusUpdated', 10, { did, status: 'PUBLISHED' }),
]

function event(number: number, type: Event['type'], secondsAgo: number, data: object): Event {
  return { type, id: id(number), ts: at(secondsAgo), data: { ...data }, walletId: id(99) }
}

/** What the daemon says of a credential that the wallet issues over OpenID4VCI. */
export const offered = {
  'GET /oid4vci/issuers': { contents: [{ id: id(61), display: [{ name: 'Acme' }] }] },
  'GET /oid4vci/issuers/{issuerId}/credential-configurations': {
    contents: [
      {
        configurationId: 'Employee',
        format: 'dc+sd-jwt',
        display: [{ name: 'Employee' }],
        schemaId: `https://agent.example/schema-registry/schemas/${id(62)}/schema`,
        issuingDID: did,
      },
    ],
  },
  'GET /schema-registry/schemas/{guid}/schema': {
    type: 'object',
    properties: {
      givenName: { type: 'string', title: 'Given name' },
      familyName: { type: 'string', title: 'Family name' },
      number: { type: 'integer', title: 'Employee number', description: 'As on the badge' },
      since: { type: 'string', format: 'date', title: 'Employed since' },
      isManager: { type: 'boolean', title: 'Leads a team' },
      grade: { enum: ['junior', 'senior'], title: 'Grade' },
      address: { type: 'object', title: 'Address of the place of work, with the country' },
    },
    required: ['givenName', 'number'],
  },
}

export const wallet: Data = {
  ...emptyData,
  link: { is: 'live' },
  connections,
  credentials,
  proofs,
  dids: [
    { did, status: 'PUBLISHED' },
    { did: otherDid, longFormDid: `${otherDid}:${'Q'.repeat(150)}`, status: 'CREATED' },
  ],
  webhooks: [
    {
      id: webhookId,
      url: 'https://hooks.example/identity',
      customHeaders: { authorization: '' },
      createdAt: at(9_000),
      signed: true,
    },
  ],
  deliveries: {
    [webhookId]: [
      {
        eventId: id(55),
        type: 'PresentationUpdated',
        kind: 'automatic',
        outcome: 'failed',
        attemptedAt: at(3),
        durationMs: 12,
        status: 500,
        error: 'status 500',
      },
      {
        eventId: id(54),
        type: 'PresentationUpdated',
        kind: 'replay',
        outcome: 'delivered',
        attemptedAt: at(20),
        durationMs: 8,
        status: 200,
      },
      {
        eventId: id(53),
        type: 'IssueCredentialRecordUpdated',
        kind: 'automatic',
        outcome: 'dead',
        attemptedAt: at(50),
        durationMs: 3,
        error: 'ECONNREFUSED',
      },
    ],
  },
  events,
}
