/**
 * A data folder with flows that are open when the agent stops: each waits for the other side, for the worker,
 * or for the ledger.
 *
 * Both sides are tenants of one agent. Its DIDComm URL is part of their peer DIDs and cannot change. So the
 * URL belongs to a gateway with a loopback address of its own, which forwards to the port that the agent has
 * at the moment.
 */
import { once } from 'node:events'
import { createServer, connect as connectTo } from 'node:net'
import * as z from 'zod'
import type { TestAgent } from '../../support/agent.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  oobOf,
  presentationIn,
  until,
  type Tenant,
} from '../../support/tenants.ts'

export const gatewayHost = '127.93.0.1'
const gatewayPort = 8090
export const webhookPort = 8091

const century = '36500d'

/** The variables of an agent for which no flow of the folder ever expires. */
export const openFlowVariables = {
  DIDCOMM_SERVICE_URL: `http://${gatewayHost}:${gatewayPort}`,
  VDR_CONFIRM_AFTER: '2',
  CONNECT_INVITATION_EXPIRY: century,
  EVENT_RETENTION: century,
  FLOW_EXPIRY: century,
  MESSAGE_RETRY_FOR: century,
}

/** Opens the gateway. Connections wait until `forwardTo` names the agent's DIDComm endpoint. */
export async function openGateway() {
  let forwardTo!: (url: URL) => void
  const target = new Promise<URL>((resolve) => (forwardTo = resolve))
  const server = createServer(async (incoming) => {
    incoming.on('error', () => undefined)
    const { hostname, port } = await target
    const outgoing = connectTo(Number(port), hostname).on('error', () => incoming.destroy())
    incoming.pipe(outgoing).pipe(incoming)
    incoming.on('close', () => outgoing.destroy())
  }).listen(gatewayPort, gatewayHost)
  await once(server, 'listening')
  return {
    forwardTo: (url: string) => forwardTo(new URL(url)),
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The open flows: thread ids, the id of the connection and of a held credential, and DIDs. */
export const OpenFlows = z.object({
  offered: z.string(),
  answered: z.string(),
  unsentOffer: z.string(),
  proof: z.string(),
  connection: z.string(),
  connectionId: z.string(),
  submittedDid: z.string(),
  unsubmittedDid: z.string(),
  subjectId: z.string(),
  credentialId: z.string(),
})
export type OpenFlows = z.infer<typeof OpenFlows>

/** Begins the flows, and stops the worker in the middle of them. */
export async function beginFlows(agent: TestAgent, issuer: Tenant, holder: Tenant): Promise<OpenFlows> {
  const issuing = await newDid(issuer, 'assertionMethod')
  const subject = await newDid(holder, 'authentication')
  const { inviterConnectionId: connectionId } = await connect(issuer, holder)
  const held = await issue(issuer, holder, connectionId, issuing.did, subject.longFormDid)
  const offer = () =>
    issuer.call('POST /issue-credentials/credential-offers', {
      body: { connectionId, issuingDID: issuing.did, claims: { name: 'Alice' }, automaticIssuance: true },
    })
  // Waiting for the other side.
  const [offered, answered] = [await offer(), await offer()]
  const request = await issuer.call('POST /present-proof/presentations', {
    body: { connectionId, proofs: [], options: { challenge: 'of a release', domain: 'verifier.example' } },
  })
  await credentialIn(holder.call, offered.thid, 'OfferReceived')
  const { recordId } = await credentialIn(holder.call, answered.thid, 'OfferReceived')
  await presentationIn(holder.call, request.thid, 'RequestReceived')
  for (const { thid } of [offered, answered]) await credentialIn(issuer.call, thid, 'OfferSent')
  await presentationIn(issuer.call, request.thid, 'RequestSent')

  // Waiting for the ledger, which has the operation and has not confirmed it.
  const submitted = await unpublished(issuer)
  await issuer.call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: submitted } })
  await until(
    'the submission',
    () =>
      agent.agent.wallets.use(issuer.walletId, ({ db }) =>
        db.selectFrom('did_operation').select('submitted_at').where('did', '=', submitted).executeTakeFirst(),
      ),
    (row) => typeof row?.submitted_at === 'string',
  )
  // Waiting for the worker: events, an operation on a DID, messages and tasks.
  const waiting = await unpublished(issuer)
  await agent.agent.worker[Symbol.asyncDispose]()
  await issuer.call('POST /events/webhooks', { body: { url: `http://${gatewayHost}:${webhookPort}/events` } })
  await issuer.call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: waiting } })
  await holder.call('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: { subjectId: subject.longFormDid },
  })
  const unsent = await offer()
  const invitation = await issuer.call('POST /connections', { body: { label: 'open' } })
  await holder.call('POST /connection-invitations', { body: { invitation: oobOf(invitation) } })
  return {
    offered: offered.thid,
    answered: answered.thid,
    unsentOffer: unsent.thid,
    proof: request.thid,
    connection: invitation.thid,
    connectionId,
    submittedDid: submitted,
    unsubmittedDid: waiting,
    subjectId: subject.longFormDid,
    credentialId: held.recordId,
  }
}

async function unpublished({ call }: Tenant): Promise<string> {
  const { longFormDid } = await call('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'assertionMethod' }] } },
  })
  return longFormDid.split(':').slice(0, 3).join(':')
}
