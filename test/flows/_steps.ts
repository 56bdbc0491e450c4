/** Pairs of tenants that have made the first steps of a flow, and the steps that follow. */
import { expect } from 'vitest'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../src/did/peer.ts'
import { sharedAgent } from '../support/agent.ts'
import { openParty, type Message, type PartyOptions } from '../support/party.ts'
import {
  issue,
  connect,
  credentialIn,
  newDid,
  presentationIn,
  refusal,
  startPair,
  until,
  type Tenant,
} from '../support/tenants.ts'

type Curve = 'secp256k1' | 'Ed25519'

/**
 * A connected pair: the issuer has a DID that issues, the holder one that is the subject. `toHolder` issues a
 * JWT credential.
 */
export async function startConnected(
  variables: Record<string, string> = {},
  curve: Curve = 'secp256k1',
  start = sharedAgent,
) {
  const pair = await startPair(variables, start)
  const { issuer, holder } = pair
  const connection = await connect(issuer, holder)
  const connectionId = connection.inviterConnectionId
  const { did: issuingDID, longFormDid: issuingLongForm } = await newDid(issuer, 'assertionMethod', curve)
  const subject = await newDid(holder, 'authentication', curve)
  return {
    ...pair,
    connectionId,
    holderConnectionId: connection.inviteeConnectionId,
    connectionThid: connection.thid,
    issuingDID,
    issuingLongForm,
    subject,
    subjectId: subject.did,
    toHolder: (claims?: Record<string, any>, schemaId?: string) =>
      issue(issuer, holder, connectionId, issuingDID, subject.did, claims, schemaId),
  }
}

/** A connected pair whose holder has a credential. */
export async function startWithCredential(...options: Parameters<typeof startConnected>) {
  const pair = await startConnected(...options)
  return { ...pair, ...(await pair.toHolder()) }
}

/** A connected pair with an unanswered offer, which the issuer knows to be delivered. */
export async function startWithOffer(more: object = {}, start = sharedAgent) {
  const pair = await startConnected({}, 'secp256k1', start)
  const { issuer, holder, connectionId, issuingDID } = pair
  const body = { connectionId, issuingDID, claims: { a: 1 }, ...more }
  const offer = await issuer.call('POST /issue-credentials/credential-offers', { body })
  const { recordId } = await credentialIn(holder.call, offer.thid, 'OfferReceived')
  await credentialIn(issuer.call, offer.thid, 'OfferSent')
  return { ...pair, thid: offer.thid, recordId, issuerRecordId: offer.recordId }
}

/**
 * A tenant that is connected to a peer of the test. `say` sends a message of the peer, and returns the
 * status.
 */
export async function startWithParty(options?: PartyOptions, start = sharedAgent) {
  const agent = await start()
  const tenant = await agent.newTenant()
  const party = await openParty(options)
  const connected = await party.connect(tenant)
  await party.next('https://atalaprism.io/mercury/connections/1.0/response')
  return {
    agent,
    tenant,
    call: tenant.call,
    party,
    ...connected,
    say: (message: Message) => party.send(connected.theirDid, message),
    async [Symbol.asyncDispose]() {
      await party[Symbol.asyncDispose]()
      await agent[Symbol.asyncDispose]()
    },
  }
}

/** Accepts an offer with a subject and a key. */
export function acceptOfferWith(
  { call }: Tenant,
  recordId: string,
  body: { subjectId?: string; keyId?: string | undefined },
) {
  return call('POST /issue-credentials/records/{recordId}/accept-offer', { path: { recordId }, body })
}

/** The issuer's command to issue the requested credential. */
export function issueRequested({ call }: Tenant, recordId: string) {
  return call('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
}

export function readCredential({ call }: Tenant, recordId: string) {
  return call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
}

/** Waits for a failure in a credential record. */
export function failureOf(tenant: Tenant, recordId: string) {
  return until(
    'a failure',
    () => readCredential(tenant, recordId),
    ({ metaLastFailure }) => metaLastFailure !== undefined,
  )
}

/** Requests a presentation over a connection. Returns the thread and both records. */
export async function requestProof(verifier: Tenant, prover: Tenant, body: object) {
  const asked = await verifier.call('POST /present-proof/presentations', { body: body as never })
  const request = await presentationIn(prover.call, asked.thid, 'RequestReceived')
  return { thid: asked.thid, asked, request, presentationId: request.presentationId }
}

/** Accepts or rejects a request or a presentation. */
export function actOnProof({ call }: Tenant, presentationId: string, body: object) {
  const path = { presentationId }
  return call('PATCH /present-proof/presentations/{presentationId}', { path, body: body as never })
}

/** Presents credentials of the wallet. */
export function prove(prover: Tenant, presentationId: string, ...proofId: string[]) {
  return actOnProof(prover, presentationId, { action: 'request-accept', proofId })
}

/** Expects that a call is refused with a status and a detail that contains a text. */
export async function expectRefusal(call: Promise<unknown>, status: number, detail: string | RegExp) {
  expect(await refusal(call)).toMatchObject({ status, detail: expect.stringMatching(detail) })
}

/** A DID with keys that the agents do not know: as a sender, and as a signer. */
export function newStranger() {
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const keys = { keyAgreement: toPublic(keyAgreement), authentication: toPublic(authentication) }
  const did = createPeerDid({ ...keys, serviceUri: 'http://127.0.0.1:1/unreachable' })
  const kid = (purpose: 'keyAgreement' | 'authentication') => keysFor(resolvePeerDid(did), purpose)[0]!.id
  return {
    did,
    sender: { kid: kid('keyAgreement'), privateJwk: keyAgreement },
    signer: { kid: kid('authentication'), privateJwk: authentication },
  }
}
