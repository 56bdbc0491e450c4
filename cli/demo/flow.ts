/** What the demonstration does: connect, issue, present, each step when an event says that the one before is done. */
import type { Client } from '../../daemon/client/client.ts'
import { tenths } from '../format/time.ts'
import type { Changes } from './changes.ts'

/** The two tenants as callers, and what tells them when to go on. */
export type Stage = { acme: Client; alice: Client; events: Pick<Changes, 'until'> }

/** What is there before the first flow: their DIDs, and the URL of the schema. */
export type Props = { acmeDid: string; aliceDid: string; schemaId: string }

/** What a viewer is shown on the way. */
export type Viewer = {
  step: (title: string) => void
  invitation: (url: string) => void
}

/** What a flow leaves behind: the ids of its records, each on the side that uses it. */
export type Made = { connectionId: string; issuedId: string; heldId: string }

/** Milliseconds that the parts of a flow took. */
export type Timing = { connectMs: number; issueMs: number; presentMs: number; flowMs: number }

/** Whom the credentials of the demonstration are about. */
export const person = { name: 'Alice Example', role: 'engineer', level: 7 }

/** The JSON Schema that the credentials of the demonstration fit. */
export const schema = {
  $id: 'https://acme.example/schemas/employee',
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  description: 'An employee of acme',
  type: 'object',
  properties: { name: { type: 'string' }, role: { type: 'string' }, level: { type: 'integer' } },
  required: ['name', 'role'],
  additionalProperties: false,
}

/** Runs one flow from the first call to the accepted presentation. */
export async function runFlow(stage: Stage, props: Props, viewer: Viewer): Promise<Timing> {
  const start = performance.now()
  const connectionId = await connect(stage, viewer)
  const connected = performance.now()
  const records = await issue(stage, props, connectionId, viewer)
  const issued = performance.now()
  await present(stage, props, { connectionId, ...records }, viewer)
  const end = performance.now()
  return {
    connectMs: tenths(connected - start),
    issueMs: tenths(issued - connected),
    presentMs: tenths(end - issued),
    flowMs: tenths(end - start),
  }
}

/** Returns the id of acme’s connection. */
export async function connect({ acme, alice, events }: Stage, viewer: Viewer) {
  viewer.step('Connect: acme invites, alice accepts')
  const { connectionId, thid, invitation } = await acme('POST /connections', {
    body: { label: 'alice', goal: 'Your employee credential' },
  })
  viewer.invitation(invitation.invitationUrl)
  const oob = new URL(invitation.invitationUrl).searchParams.get('_oob')!
  await alice('POST /connection-invitations', { body: { invitation: oob } })
  const about = { what: 'connection', subject: thid } as const
  await Promise.all([
    events.until({ ...about, who: 'acme', state: 'ConnectionResponseSent' }),
    events.until({ ...about, who: 'alice', state: 'ConnectionResponseReceived' }),
  ])
  return connectionId
}

/** Returns the ids of both records of the credential. */
export async function issue(
  { acme, alice, events }: Stage,
  { acmeDid, aliceDid, schemaId }: Props,
  connectionId: string,
  viewer: Viewer,
): Promise<Omit<Made, 'connectionId'>> {
  viewer.step('Issue: acme offers, alice accepts, acme issues')
  const offer = await acme('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID: acmeDid, claims: person, schemaId, validityPeriod: 31_536_000 },
  })
  const about = { what: 'credential', subject: offer.thid } as const
  const { id: heldId } = await events.until({ ...about, who: 'alice', state: 'OfferReceived' })
  await alice('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId: heldId },
    body: { subjectId: aliceDid },
  })
  await events.until({ ...about, who: 'acme', state: 'RequestReceived' })
  await acme('POST /issue-credentials/records/{recordId}/issue-credential', {
    path: { recordId: offer.recordId },
  })
  await Promise.all([
    events.until({ ...about, who: 'acme', state: 'CredentialSent' }),
    events.until({ ...about, who: 'alice', state: 'CredentialReceived' }),
  ])
  return { issuedId: offer.recordId, heldId }
}

export async function present(
  { acme, alice, events }: Stage,
  props: Props,
  made: Made,
  viewer: Viewer,
): Promise<void> {
  viewer.step('Present: acme asks for a proof, alice presents, acme verifies and accepts')
  const { presentationId, about } = await answered({ acme, alice, events }, props, made)
  await events.until({ ...about, who: 'acme', state: 'PresentationVerified' })
  await acme('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'presentation-accept' },
  })
  await Promise.all([
    events.until({ ...about, who: 'acme', state: 'PresentationAccepted' }),
    events.until({ ...about, who: 'alice', state: 'PresentationSent' }),
  ])
}

/** A credential that is revoked, and what becomes of the next proof with it. */
export async function revoke(stage: Stage, props: Props, made: Made, viewer: Viewer): Promise<void> {
  viewer.step('Revoke: acme takes the credential back, and the next proof with it does not hold')
  await stage.acme('PATCH /credential-status/revoke-credential/{id}', { path: { id: made.issuedId } })
  const { about } = await answered(stage, props, made)
  await Promise.all([
    stage.events.until({ ...about, who: 'acme', state: 'PresentationVerificationFailed' }),
    stage.events.until({ ...about, who: 'alice', state: 'ProblemReportReceived' }),
  ])
}

/** Asks alice for a proof with the credential, and has her answer. Returns acme’s record of it. */
async function answered(
  { acme, alice, events }: Stage,
  { acmeDid, schemaId }: Props,
  { connectionId, heldId }: Made,
) {
  const request = await acme('POST /present-proof/presentations', {
    body: { connectionId, proofs: [{ schemaId, trustIssuers: [acmeDid] }] },
  })
  const about = { what: 'proof', subject: request.thid } as const
  const { id } = await events.until({ ...about, who: 'alice', state: 'RequestReceived' })
  await alice('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId: id },
    body: { action: 'request-accept', proofId: [heldId] },
  })
  return { presentationId: request.presentationId, about }
}
