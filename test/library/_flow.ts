/** The main flow of two tenants by the exported client only. */
import type { Client } from '../../library/client/index.ts'
import { oobOf } from '../support/tenants.ts'
import { client } from './_library.ts'

const { waitFor, events } = client

export async function connect(inviter: Client, invitee: Client) {
  const invitation = await inviter('POST /connections', { body: { label: 'invitee' } })
  const accepted = await invitee('POST /connection-invitations', { body: { invitation: oobOf(invitation) } })
  return Promise.all([
    waitFor(inviter, invitation, 'ConnectionResponseSent'),
    waitFor(invitee, accepted, 'ConnectionResponseReceived'),
  ])
}

/** A published did:prism for assertions. */
export async function publishDid(issuer: Client): Promise<string> {
  const { longFormDid } = await issuer('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'assertionMethod' }] } },
  })
  const did = longFormDid.split(':').slice(0, 3).join(':')
  const published = events(issuer, { type: 'DIDStatusUpdated', thid: did })
  await published.open()
  await issuer('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: did } })
  for await (const { data } of published) if (data.status === 'PUBLISHED') return did
  throw new Error('the events ended')
}

/** Offers a credential over a connection. Returns the record of each side. */
export async function offer(issuer: Client, holder: Client, connectionId: string) {
  const offered = await issuer('POST /issue-credentials/credential-offers', {
    body: {
      connectionId,
      issuingDID: await publishDid(issuer),
      claims: { name: 'Alice' },
      automaticIssuance: true,
    },
  })
  const type = 'IssueCredentialRecordUpdated'
  return [offered, await waitFor(holder, { type, thid: offered.thid }, 'OfferReceived')] as const
}

/** Issues a credential over a connection. Returns the record of each side. */
export async function issue(issuer: Client, holder: Client, connectionId: string) {
  const [offered, { recordId }] = await offer(issuer, holder, connectionId)
  const { longFormDid: subjectId } = await holder('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'authentication' }] } },
  })
  await holder('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: { subjectId },
  })
  return Promise.all([
    waitFor(issuer, offered, 'CredentialSent'),
    waitFor(holder, { recordId }, 'CredentialReceived'),
  ])
}

/** Requests a proof. Returns the record of each side. */
export async function request(verifier: Client, prover: Client, connectionId: string) {
  const asked = await verifier('POST /present-proof/presentations', {
    body: { connectionId, proofs: [], options: { challenge: 'a-challenge', domain: 'verifier.example' } },
  })
  const type = 'PresentationUpdated'
  return [asked, await waitFor(prover, { type, thid: asked.thid }, 'RequestReceived')] as const
}
