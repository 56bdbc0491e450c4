/**
 * Flows of pairs of tenants: a connection, and a credential that is offered, accepted and issued. They follow
 * the events of a webhook.
 */
import { newDid, oobOf, type Tenant } from '../support/tenants.ts'
import type { Webhook } from '../support/webhook.ts'
import { ignoreRepeated } from './_requests.ts'

export type Pair = { issuer: Tenant; holder: Tenant; did: string; subjectId: string }

/** The threads of what was acknowledged, with its tenants. */
export type Offered = Pair & { thid: string; connectionThid: string }

/**
 * Variables of agents whose clocks may differ by an hour: the dates of invitations, credentials and proofs
 * are by the clock of their node.
 */
export const clockLeeway = {
  CONNECT_INVITATION_EXPIRY: '7200',
  CREDENTIAL_LEEWAY: '7200',
  PRESENTATION_LEEWAY: '7200',
}

/** How long a step may take, with the faults. */
const stepMs = 180_000

export async function newPair(newTenant: (name: string) => Promise<Tenant>): Promise<Pair> {
  const [issuer, holder] = [await newTenant('issuer'), await newTenant('holder')]
  const { did } = await newDid(issuer, 'assertionMethod')
  const { longFormDid } = await newDid(holder, 'authentication')
  return { issuer, holder, did, subjectId: longFormDid }
}

/** Runs one flow. `note` is called when the offer is acknowledged. */
export async function runFlow(
  webhook: Webhook,
  index: number,
  pair: Pair,
  note: (offered: Offered) => void,
): Promise<void> {
  const { issuer, holder, did, subjectId } = pair
  const made = await issuer.call('POST /connections', { body: { label: `flow ${index}` } })
  const invitation = oobOf(made)
  await holder.call('POST /connection-invitations', { body: { invitation } }).catch(ignoreRepeated)
  await webhook.reached(issuer, made.thid, 'ConnectionResponseSent', stepMs)
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId: made.connectionId, issuingDID: did, claims: { index }, automaticIssuance: true },
    headers: { 'idempotency-key': `offer-${index}` },
  })
  note({ ...pair, thid, connectionThid: made.thid })
  const { recordId } = (await webhook.reached(holder, thid, 'OfferReceived', stepMs)) as { recordId: string }
  await holder
    .call('POST /issue-credentials/records/{recordId}/accept-offer', {
      path: { recordId },
      body: { subjectId },
    })
    .catch(ignoreRepeated)
  await webhook.reached(holder, thid, 'CredentialReceived', stepMs)
  await webhook.reached(issuer, thid, 'CredentialSent', stepMs)
}
