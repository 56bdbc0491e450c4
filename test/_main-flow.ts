/** The main flow over the public API: tenants, DIDs, connection, credential and presentation. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Daemon } from './_daemon.ts'
import type { Sink } from './_sink.ts'

/** A tenant at a daemon. */
export type Party = { daemon: Daemon; walletId: string; apiKey: string }

/** The data that steps pass to later steps. */
export type Job = {
  issuer: Party
  holder: Party
  sink: Sink
  issuingDID: string
  schemaId: string
  subjectId: string
  invitation: string
  connectionId: string
  holderConnectionId: string
  credentialThid: string
  recordId: string
  holderRecordId: string
  proofThid: string
  presentationId: string
  holderPresentationId: string
}

/** Creates a wallet, an entity and an API key. */
export async function onboard(daemon: Daemon, adminKey: string, name: string): Promise<Party> {
  const apiKey = `${name}-${randomUUID()}`
  const wallet = await daemon.call('POST /wallets', { adminKey, body: { name } })
  const entity = await daemon.call('POST /iam/entities', {
    adminKey,
    body: { name, walletId: wallet.body.id },
  })
  const key = await daemon.call('POST /iam/apikey-authentication', {
    adminKey,
    body: { entityId: entity.body.id, apiKey },
  })
  expect([wallet.status, entity.status, key.status]).toEqual([201, 201, 201])
  return { daemon, walletId: wallet.body.id, apiKey }
}

async function call({ daemon, apiKey }: Party, key: string, body?: unknown): Promise<any> {
  const answer = await daemon.call(key, { apiKey, ...(body !== undefined && { body }) })
  expect(answer.status, `${key}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  return answer.body
}

/** Waits for the event of a party's thread or DID in a state. Returns its data. */
async function reached(sink: Sink, { walletId }: Party, subject: string, state: string): Promise<any> {
  const event = await sink.waitFor(`${state} of ${subject}`, ({ walletId: id, data }) => {
    return (
      id === walletId &&
      (data.thid ?? data.did) === subject &&
      (data.state ?? data.protocolState ?? data.status) === state
    )
  })
  return event.data
}

/** The steps in order. Agents may still have work in progress between two steps. */
export const steps: Record<string, (job: Job) => Promise<void>> = {
  async 'the issuer creates a DID'(job) {
    const template = { publicKeys: [{ id: 'assert-1', purpose: 'assertionMethod' }], services: [] }
    const { longFormDid } = await call(job.issuer, 'POST /did-registrar/dids', { documentTemplate: template })
    job.issuingDID = longFormDid.split(':').slice(0, 3).join(':')
  },
  async 'the issuer publishes the DID'(job) {
    await call(job.issuer, `POST /did-registrar/dids/${job.issuingDID}/publications`)
  },
  async 'the issuer publishes a schema'(job) {
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
    const { guid } = await call(job.issuer, 'POST /schema-registry/schemas', {
      name: 'person',
      version: '1.0.0',
      type,
      author: job.issuingDID,
      tags: [],
      schema,
    })
    job.schemaId = `${job.issuer.daemon.url}/schema-registry/schemas/${guid}`
  },
  async 'the holder creates a DID'(job) {
    const template = { publicKeys: [{ id: 'auth-1', purpose: 'authentication', curve: 'Ed25519' }] }
    job.subjectId = (
      await call(job.holder, 'POST /did-registrar/dids', { documentTemplate: template })
    ).longFormDid
  },
  async 'the issuer creates an invitation'(job) {
    await reached(job.sink, job.issuer, job.issuingDID, 'PUBLISHED')
    const { connectionId, invitation } = await call(job.issuer, 'POST /connections', { label: 'holder' })
    job.connectionId = connectionId
    job.invitation = new URL(invitation.invitationUrl).searchParams.get('_oob')!
  },
  async 'the holder accepts the invitation'(job) {
    job.holderConnectionId = (
      await call(job.holder, 'POST /connection-invitations', { invitation: job.invitation })
    ).connectionId
  },
  async 'the issuer offers a credential'(job) {
    await reached(job.sink, job.issuer, job.connectionId, 'ConnectionResponseSent')
    await reached(job.sink, job.holder, job.connectionId, 'ConnectionResponseReceived')
    const { connectionId, issuingDID, schemaId } = job
    const claims = { familyName: 'Ärger', age: 42, address: { city: 'Zürich' } }
    const record = await call(job.issuer, 'POST /issue-credentials/credential-offers', {
      connectionId,
      issuingDID,
      claims,
      schemaId,
    })
    job.credentialThid = record.thid
    job.recordId = record.recordId
  },
  async 'the holder accepts the offer'(job) {
    job.holderRecordId = (await reached(job.sink, job.holder, job.credentialThid, 'OfferReceived')).recordId
    await call(job.holder, `POST /issue-credentials/records/${job.holderRecordId}/accept-offer`, {
      subjectId: job.subjectId,
    })
  },
  async 'the issuer issues the credential'(job) {
    await reached(job.sink, job.issuer, job.credentialThid, 'RequestReceived')
    await call(job.issuer, `POST /issue-credentials/records/${job.recordId}/issue-credential`)
  },
  async 'the verifier requests a presentation'(job) {
    await reached(job.sink, job.holder, job.credentialThid, 'CredentialReceived')
    const { connectionId, issuingDID, schemaId } = job
    const options = { challenge: randomUUID(), domain: 'https://verifier.example' }
    const record = await call(job.issuer, 'POST /present-proof/presentations', {
      connectionId,
      options,
      proofs: [{ schemaId, trustIssuers: [issuingDID] }],
    })
    job.proofThid = record.thid
    job.presentationId = record.presentationId
  },
  async 'the prover presents'(job) {
    job.holderPresentationId = (
      await reached(job.sink, job.holder, job.proofThid, 'RequestReceived')
    ).presentationId
    await call(job.holder, `PATCH /present-proof/presentations/${job.holderPresentationId}`, {
      action: 'request-accept',
      proofId: [job.holderRecordId],
    })
  },
  async 'the verifier accepts the presentation'(job) {
    await reached(job.sink, job.issuer, job.proofThid, 'PresentationVerified')
    await call(job.issuer, `PATCH /present-proof/presentations/${job.presentationId}`, {
      action: 'presentation-accept',
    })
  },
}

/** Waits for the final states of both sides. */
export async function finished({ sink, issuer, holder, proofThid, credentialThid }: Job): Promise<void> {
  await reached(sink, issuer, credentialThid, 'CredentialSent')
  await reached(sink, holder, proofThid, 'PresentationSent')
  await reached(sink, issuer, proofThid, 'PresentationAccepted')
}

/** The events of each side: side and event type → states in the order of arrival. */
export function announced({ sink, issuer, holder }: Job): Record<string, string[]> {
  const names: Record<string, string> = { [issuer.walletId]: 'issuer', [holder.walletId]: 'holder' }
  const story: Record<string, string[]> = {}
  for (const { type, walletId, data } of sink.events) {
    const key = `${names[walletId] ?? walletId} ${type}`
    ;(story[key] ??= []).push(String(data.state ?? data.protocolState ?? data.status))
  }
  return story
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
