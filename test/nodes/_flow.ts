/** Flows of pairs of tenants: a connection, and a credential that is offered, accepted and issued. They follow the events of a webhook. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ProblemError } from '../../daemon/client/client.ts'
import { newDid, oobOf, type Tenant } from '../_tenants.ts'
import type { Webhook } from '../_webhook.ts'
import { ignoreRepeated } from './_requests.ts'

export type Pair = { issuer: Tenant; holder: Tenant; did: string; subjectId: string }

/** The threads of what was acknowledged, with its tenants. */
export type Offered = Pair & { thid: string; connectionThid: string }

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
  const made = await connect(pair, `flow ${index}`)
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

/** Has the holder accept an invitation. One that a node with a late clock has made is expired already, and another one is made. */
async function connect({ issuer, holder }: Pair, label: string) {
  for (;;) {
    const made = await issuer.call('POST /connections', { body: { label } })
    const accepting = holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
    const isExpired = await accepting.then(
      () => false,
      (error: unknown) => isExpiry(error) || ignoreRepeated(error),
    )
    if (!isExpired) return made
    await sleep(1_000)
  }
}

const isExpiry = (error: unknown) => error instanceof ProblemError && error.problem.type.endsWith('Expired')
