/** The steps of the demo. Each step starts when an event reports that the previous one is done. */
import { setTimeout } from 'node:timers/promises'
import type { Client } from '../../daemon/client/client.ts'
import type { Change, Changes } from './changes.ts'
import type { Narrator } from './narrator.ts'
import { tenths } from '../format/time.ts'
import { CommandError } from '../errors/errors.ts'
import type { Props } from './prepare.ts'

/** The steps of alice. A promise resolves when its step is done. */
export type Alice = {
  /** Accepts the invitation of a connection, by its URL. */
  connect: (url: string, thid: string) => Promise<unknown>
  acceptOffer: (thid: string) => Promise<unknown>
  /** Presents the credential of that offer. */
  present: (thid: string) => Promise<unknown>
  submitDid: (didRequest: Record<string, unknown>) => Promise<unknown>
  answerChallenge: (challenge: Record<string, unknown>, did: string) => Promise<unknown>
}

/** Acme's client, alice, and the changes that they wait for. */
export type Stage = { acme: Client; alice: Alice; events: Pick<Changes, 'until'> }

/** Receives the progress of the demo. */
export type Viewer = {
  step: (title: string) => void
  invitation: (url: string) => void
}

/** The ids of acme’s records of a flow. */
export type Made = { connectionId: string; issuedId: string }

/** Alice by API calls. `did`, the subject of her credential, is needed to accept an offer. */
export function aliceByCalls(
  call: Client,
  events: Pick<Changes, 'until'>,
  narrator: Pick<Narrator, 'name'>,
  did?: string,
): Alice {
  const until = (what: Change['what'], subject: string, state: string) =>
    events.until({ who: 'alice', what, subject, state })
  let heldId = ''
  return {
    connect: async (url, thid) => {
      await call('POST /connection-invitations', { body: { invitation: url } })
      return until('connection', thid, 'ConnectionResponseReceived')
    },
    acceptOffer: async (thid) => {
      heldId = (await until('credential', thid, 'OfferReceived')).id
      await call('POST /issue-credentials/records/{recordId}/accept-offer', {
        path: { recordId: heldId },
        body: { subjectId: did },
      })
      return until('credential', thid, 'CredentialReceived')
    },
    present: async (thid) => {
      const { id: presentationId } = await until('proof', thid, 'RequestReceived')
      await call('PATCH /present-proof/presentations/{presentationId}', {
        path: { presentationId },
        body: { action: 'request-accept', proofId: [heldId] },
      })
      return until('proof', thid, 'PresentationSent')
    },
    submitDid: async (didRequest) => {
      const { did } = await call('POST /onboard/answers', { body: { didRequest: didRequest as never } })
      narrator.name('alice', 'ALICE_DID_FOR_ACME', did!)
    },
    answerChallenge: (challenge, did) =>
      call('POST /did-authentication/answers', { body: { challenge: challenge as never, did } }),
  }
}

/** Durations of the parts of a flow, in milliseconds. */
export type Timing = { connectMs: number; issueMs: number; presentMs: number; flowMs: number }

export const person = { name: 'Alice Example', role: 'engineer', level: 7 }

/** Runs one flow from the first call to the accepted presentation. */
export async function runFlow(stage: Stage, props: Props, viewer: Viewer): Promise<Timing> {
  const start = performance.now()
  const connectionId = await connect(stage, viewer)
  const connected = performance.now()
  const issuedId = await issue(stage, props, connectionId, viewer)
  const issued = performance.now()
  await present(stage, props, { connectionId, issuedId }, viewer)
  const end = performance.now()
  return {
    connectMs: tenths(connected - start),
    issueMs: tenths(issued - connected),
    presentMs: tenths(end - issued),
    flowMs: tenths(end - start),
  }
}

/** Returns the id of acme’s connection. */
export async function connect({ acme, alice, events }: Stage, viewer: Viewer): Promise<string> {
  viewer.step('Connect: acme invites, alice accepts')
  const { connectionId, thid, invitation } = await acme('POST /connections', {
    body: { label: 'alice', goal: 'Your employee credential' },
  })
  const { invitationUrl: url, shortUrl = url } = invitation
  viewer.invitation(shortUrl)
  await Promise.all([
    alice.connect(shortUrl, thid),
    events.until({ who: 'acme', what: 'connection', subject: thid, state: 'ConnectionResponseSent' }),
  ])
  return connectionId
}

/** Returns the id of acme’s record of the credential. */
export async function issue(
  { acme, alice, events }: Stage,
  { acmeDid, schemaId }: Props,
  connectionId: string,
  viewer: Viewer,
): Promise<string> {
  viewer.step('Issue: acme offers, alice accepts, acme issues')
  const { recordId, thid } = await acme('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID: acmeDid, claims: person, schemaId, validityPeriod: 31_536_000 },
  })
  const about = { who: 'acme', what: 'credential', subject: thid } as const
  const issueIt = async () => {
    await events.until({ ...about, state: 'RequestReceived' })
    await acme('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
    await events.until({ ...about, state: 'CredentialSent' })
  }
  await Promise.all([alice.acceptOffer(thid), issueIt()])
  return recordId
}

export async function present(stage: Stage, props: Props, made: Made, viewer: Viewer): Promise<void> {
  viewer.step('Present: acme requests a proof, alice presents, acme verifies and accepts')
  const { presentationId, thid } = await prove(stage, props, made, 'PresentationVerified')
  await stage.acme('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'presentation-accept' },
  })
  await stage.events.until({ who: 'acme', what: 'proof', subject: thid, state: 'PresentationAccepted' })
}

/** Revokes the credential and requests another proof, which fails. */
export async function revoke(stage: Stage, props: Props, made: Made, viewer: Viewer): Promise<void> {
  viewer.step('Revoke: acme revokes the credential, and the next proof with it fails')
  await stage.acme('PATCH /credential-status/revoke-credential/{id}', { path: { id: made.issuedId } })
  const { thid } = await prove(stage, props, made, 'PresentationVerificationFailed')
  await stage.events.until({ who: 'alice', what: 'proof', subject: thid, state: 'ProblemReportReceived' })
}

/** Requests a proof, which alice presents, and waits for the state of acme's record. */
async function prove(
  { acme, alice, events }: Stage,
  { acmeDid, schemaId }: Props,
  { connectionId }: Made,
  state: 'PresentationVerified' | 'PresentationVerificationFailed',
): Promise<{ presentationId: string; thid: string }> {
  const { presentationId, thid } = await acme('POST /present-proof/presentations', {
    body: { connectionId, proofs: [{ schemaId, trustIssuers: [acmeDid] }] },
  })
  await Promise.all([alice.present(thid), events.until({ who: 'acme', what: 'proof', subject: thid, state })])
  return { presentationId, thid }
}

const from = 'Acme Inc.'
/** The seconds that one long-polling call waits. */
const wait = 20

type Asked = { id: string; state: 'pending' | 'success' | 'error'; did?: string | null | undefined }

/** Alice submits a DID to acme. If the scenario has sign-in, she also answers a challenge with it. */
export async function meet({ acme, alice }: Stage, isToSignIn: boolean, narrator: Narrator): Promise<void> {
  narrator.step('Onboard: acme requests a DID, alice creates one for acme only')
  const { id: didRequestId, didRequest } = await acme('POST /onboard/did-requests', { body: { from } })
  narrator.name('acme', 'DID_REQUEST', JSON.stringify(didRequest))
  await alice.submitDid(didRequest)
  const did = await completed(() =>
    acme('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId }, query: { wait } }),
  )
  narrator.tell('acme', `acme knows alice by ${did}`)
  if (!isToSignIn) return
  narrator.step('Authenticate: acme sends a challenge, alice signs it with that DID')
  const { id: challengeId, challenge } = await acme('POST /did-authentication/challenges', { body: { from } })
  narrator.name('acme', 'CHALLENGE', JSON.stringify(challenge))
  await alice.answerChallenge(challenge, did)
  const path = { challengeId }
  await completed(() => acme('GET /did-authentication/challenges/{challengeId}', { path, query: { wait } }))
  const { subject } = await acme('POST /did-authentication/challenges/{challengeId}/token', { path })
  narrator.tell('acme', `${subject} has signed in`)
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
