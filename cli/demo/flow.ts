/** The steps of the demo. Each step starts when an event reports that the previous one is done. */
import { setTimeout } from 'node:timers/promises'
import type { Client } from '../../daemon/client/client.ts'
import { shortForm } from '../format/text.ts'
import type { Changes } from './changes.ts'
import type { Narrator } from './narrator.ts'
import { tenths } from '../format/time.ts'
import { CommandError } from '../errors/errors.ts'

const keys = {
  authentication: { id: 'auth-1', purpose: 'authentication' },
  assertion: { id: 'assertion-1', purpose: 'assertionMethod' },
} as const

/** Creates and publishes the issuer’s DID and a schema at the daemon at `url`. */
export async function prepareIssuer(
  acme: Client,
  url: string,
  events: Pick<Changes, 'until'>,
  narrator: Narrator,
): Promise<Omit<Props, 'aliceDid'>> {
  const made = await acme('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [keys.authentication, keys.assertion] } },
  })
  const acmeDid = shortForm(made.longFormDid)
  narrator.name('ACME_DID', acmeDid)
  await acme('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: acmeDid } })
  await events.until({ who: 'acme', what: 'did', subject: acmeDid, state: 'PUBLISHED' })
  const { guid } = await acme('POST /schema-registry/schemas', {
    body: {
      name: 'employee',
      version: '1.0.0',
      type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
      author: acmeDid,
      schema,
    },
  })
  const schemaId = `${url}/schema-registry/schemas/${guid}`
  narrator.name('SCHEMA', schemaId)
  return { acmeDid, schemaId }
}

/** Creates the holder’s DID. It needs no publication. */
export async function prepareHolder(alice: Client, narrator: Narrator): Promise<string> {
  const { longFormDid } = await alice('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [keys.authentication] } },
  })
  const aliceDid = shortForm(longFormDid)
  narrator.name('ALICE_DID', aliceDid)
  return aliceDid
}

/** The clients of both tenants, and the changes that they wait for. */
export type Stage = { acme: Client; alice: Client; events: Pick<Changes, 'until'> }

/** The DIDs of both tenants, and the URL of the schema. */
export type Props = { acmeDid: string; aliceDid: string; schemaId: string }

/** Receives the progress of the demo. */
export type Viewer = {
  step: (title: string) => void
  invitation: (url: string) => void
}

/** The ids of the records of a flow, each on the side that uses it. */
export type Made = { connectionId: string; issuedId: string; heldId: string }

/** Durations of the parts of a flow, in milliseconds. */
export type Timing = { connectMs: number; issueMs: number; presentMs: number; flowMs: number }

/** The claims of the credential. */
export const person = { name: 'Alice Example', role: 'engineer', level: 7 }

/** The JSON Schema of the credential. */
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
  viewer.step('Present: acme requests a proof, alice presents, acme verifies and accepts')
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

/** Revokes the credential and requests another proof, which fails. */
export async function revoke(stage: Stage, props: Props, made: Made, viewer: Viewer): Promise<void> {
  viewer.step('Revoke: acme revokes the credential, and the next proof with it fails')
  await stage.acme('PATCH /credential-status/revoke-credential/{id}', { path: { id: made.issuedId } })
  const { about } = await answered(stage, props, made)
  await Promise.all([
    stage.events.until({ ...about, who: 'acme', state: 'PresentationVerificationFailed' }),
    stage.events.until({ ...about, who: 'alice', state: 'ProblemReportReceived' }),
  ])
}

/** Requests a proof from alice and presents the credential. Returns acme’s record. */
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

/** The name of the verifier. */
const from = 'Acme Inc.'
/** The seconds that one long-polling call waits. */
const wait = 20

type Asked = { id: string; state: 'pending' | 'success' | 'error'; did?: string | null | undefined }

/** Creates a DID request, calls `answer` with it, and returns the submitted DID. */
export async function onboardPerson(
  acme: Client,
  answer: (didRequest: Record<string, unknown>) => Promise<unknown>,
): Promise<string> {
  const { id, didRequest } = await acme('POST /onboard/did-requests', { body: { from } })
  await answer(didRequest)
  return completed(() =>
    acme('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId: id }, query: { wait } }),
  )
}

/** Creates a challenge, calls `answer` with it, and returns the DID that signed in and its token. */
export async function signIn(
  acme: Client,
  answer: (challenge: Record<string, unknown>) => Promise<unknown>,
): Promise<string> {
  const { id, challenge } = await acme('POST /did-authentication/challenges', { body: { from } })
  await answer(challenge)
  await completed(() =>
    acme('GET /did-authentication/challenges/{challengeId}', { path: { challengeId: id }, query: { wait } }),
  )
  return (
    await acme('POST /did-authentication/challenges/{challengeId}/token', { path: { challengeId: id } })
  ).subject
}

/** Returns the submitted DID. @throws {CommandError} when there is none */
async function completed(read: () => Promise<Asked>): Promise<string> {
  for (;;) {
    const { state, did } = await read()
    if (state === 'success' && did) return did
    if (state === 'error') throw new CommandError('The response was declined, or was not valid.', 1)
    // The daemon answers at once when the request has ended.
    await setTimeout(100)
  }
}
