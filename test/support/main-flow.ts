/**
 * The main flow of two tenants as named steps: DIDs, a schema, a connection, a credential and a presentation.
 * Tests that stop, kill or observe agents between the steps use it; others call `connect` and `issue`
 * (`tenants.ts`).
 */
import { randomUUID } from 'node:crypto'
import { assemble } from './assemble.ts'
import { oobOf, startDaemonPair, type Tenant } from './tenants.ts'
import { stateOf, Webhook } from './webhook.ts'

/** The data that steps pass to later steps. */
export type MainFlow = {
  issuer: Tenant
  holder: Tenant
  /** It receives the events of both. */
  webhook: Webhook
  issuingDID: string
  schemaId: string
  subjectId: string
  invitation: string
  connectionId: string
  credentialThid: string
  recordId: string
  holderRecordId: string
  proofThid: string
  presentationId: string
  holderPresentationId: string
}

/** Two daemons whose events arrive at one webhook, and a flow of their tenants that has not begun. */
export function startMainFlow(env: Record<string, string> = {}) {
  return assemble(async (use) => {
    const webhook = use(await Webhook.open())
    const pair = use(await startDaemonPair({ GLOBAL_WEBHOOK_URL: webhook.url, ...env }))
    const { issuer, holder } = pair
    return { ...pair, webhook, flow: { issuer, holder, webhook } as MainFlow }
  })
}

/** The steps in order. Agents may still have work in progress between two steps. */
export const steps: Record<string, (flow: MainFlow) => Promise<void>> = {
  async 'the issuer creates a DID'(flow) {
    const documentTemplate = { publicKeys: [{ id: 'assert-1', purpose: 'assertionMethod' as const }] }
    const { longFormDid } = await flow.issuer.call('POST /did-registrar/dids', { body: { documentTemplate } })
    flow.issuingDID = longFormDid.split(':').slice(0, 3).join(':')
  },
  async 'the issuer publishes the DID'({ issuer, issuingDID }) {
    await issuer.call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: issuingDID } })
  },
  async 'the issuer publishes a schema'(flow) {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        familyName: { type: 'string' },
        age: { type: 'integer', minimum: 18 },
        address: { type: 'object', properties: {} },
      },
      required: ['familyName', 'age'],
      additionalProperties: false,
    }
    const type = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'
    const { guid } = await flow.issuer.call('POST /schema-registry/schemas', {
      body: { name: 'person', version: '1.0.0', type, author: flow.issuingDID, tags: [], schema },
    })
    flow.schemaId = `${flow.issuer.url}/schema-registry/schemas/${guid}`
  },
  async 'the holder creates a DID'(flow) {
    const publicKeys = [{ id: 'auth-1', purpose: 'authentication', curve: 'Ed25519' } as const]
    const { longFormDid } = await flow.holder.call('POST /did-registrar/dids', {
      body: { documentTemplate: { publicKeys } },
    })
    flow.subjectId = longFormDid
  },
  async 'the issuer creates an invitation'(flow) {
    await flow.webhook.reached(flow.issuer, flow.issuingDID, 'PUBLISHED')
    const made = await flow.issuer.call('POST /connections', { body: { label: 'holder' } })
    flow.connectionId = made.connectionId
    flow.invitation = oobOf(made)
  },
  async 'the holder accepts the invitation'({ holder, invitation }) {
    await holder.call('POST /connection-invitations', { body: { invitation } })
  },
  async 'the issuer offers a credential'(flow) {
    const { issuer, holder, webhook, connectionId, issuingDID, schemaId } = flow
    await webhook.reached(issuer, connectionId, 'ConnectionResponseSent')
    await webhook.reached(holder, connectionId, 'ConnectionResponseReceived')
    const claims = { familyName: 'Ärger', age: 42, address: { city: 'Zürich' } }
    const record = await issuer.call('POST /issue-credentials/credential-offers', {
      body: { connectionId, issuingDID, claims, schemaId },
    })
    flow.credentialThid = record.thid
    flow.recordId = record.recordId
  },
  async 'the holder accepts the offer'(flow) {
    const { holder, webhook, subjectId } = flow
    const { recordId } = await webhook.reached(holder, flow.credentialThid, 'OfferReceived')
    flow.holderRecordId = recordId
    await holder.call('POST /issue-credentials/records/{recordId}/accept-offer', {
      path: { recordId },
      body: { subjectId },
    })
  },
  async 'the issuer issues the credential'({ issuer, webhook, credentialThid, recordId }) {
    await webhook.reached(issuer, credentialThid, 'RequestReceived')
    await issuer.call('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
  },
  async 'the verifier requests a presentation'(flow) {
    const { issuer, connectionId, issuingDID, schemaId } = flow
    await flow.webhook.reached(flow.holder, flow.credentialThid, 'CredentialReceived')
    const options = { challenge: randomUUID(), domain: 'https://verifier.example' }
    const proofs = [{ schemaId, trustIssuers: [issuingDID] }]
    const record = await issuer.call('POST /present-proof/presentations', {
      body: { connectionId, options, proofs },
    })
    flow.proofThid = record.thid
    flow.presentationId = record.presentationId
  },
  async 'the prover presents'(flow) {
    const { presentationId } = await flow.webhook.reached(flow.holder, flow.proofThid, 'RequestReceived')
    flow.holderPresentationId = presentationId
    await flow.holder.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId },
      body: { action: 'request-accept', proofId: [flow.holderRecordId] },
    })
  },
  async 'the verifier accepts the presentation'({ issuer, webhook, proofThid, presentationId }) {
    await webhook.reached(issuer, proofThid, 'PresentationVerified')
    await issuer.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId },
      body: { action: 'presentation-accept' },
    })
  },
}

/** Waits for the final states of both sides. */
export async function finished(flow: MainFlow): Promise<void> {
  const { webhook, issuer, holder, proofThid, credentialThid } = flow
  await webhook.reached(issuer, credentialThid, 'CredentialSent')
  await webhook.reached(holder, proofThid, 'PresentationSent')
  await webhook.reached(issuer, proofThid, 'PresentationAccepted')
}

/** The events of each side: side and event type → states in the order of arrival. */
export function announced({ webhook, issuer, holder }: MainFlow): Record<string, string[]> {
  const names: Record<string, string> = { [issuer.walletId]: 'issuer', [holder.walletId]: 'holder' }
  const states: Record<string, string[]> = {}
  for (const event of webhook.events) {
    const key = `${names[event.walletId] ?? event.walletId} ${event.type}`
    ;(states[key] ??= []).push(stateOf(event))
  }
  return states
}

/** The expected events of one run of the main flow. */
export const wholeStory: Record<string, string[]> = {
  'issuer DIDStatusUpdated': ['PUBLISHED'],
  'issuer ConnectionUpdated': [
    'InvitationGenerated',
    'ConnectionRequestReceived',
    'ConnectionResponsePending',
    'ConnectionResponseSent',
  ],
  'holder ConnectionUpdated': [
    'InvitationReceived',
    'ConnectionRequestPending',
    'ConnectionRequestSent',
    'ConnectionResponseReceived',
  ],
  'issuer IssueCredentialRecordUpdated': [
    'OfferPending',
    'OfferSent',
    'RequestReceived',
    'CredentialPending',
    'CredentialGenerated',
    'CredentialSent',
  ],
  'holder IssueCredentialRecordUpdated': [
    'OfferReceived',
    'RequestPending',
    'RequestSent',
    'CredentialReceived',
  ],
  'issuer PresentationUpdated': [
    'RequestPending',
    'RequestSent',
    'PresentationVerified',
    'PresentationAccepted',
  ],
  'holder PresentationUpdated': [
    'RequestReceived',
    'PresentationPending',
    'PresentationGenerated',
    'PresentationSent',
  ],
}
