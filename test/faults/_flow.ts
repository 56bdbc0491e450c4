/** One flow: connect, issue, present. Callers repeat requests, because daemons may be killed at any time. */
import { oobOf } from '../support/tenants.ts'
import { ask, makeOnce, type DaemonTenant, type Setup } from './_setup.ts'

/** The wait for the event of a state, longer than a restart. */
const usualWaitMs = 60_000

/** Runs a flow to its end on both sides. */
export async function runFlow(setup: Setup, name: string, waitMs = usualWaitMs): Promise<void> {
  const { webhook, issuer, holder, issuingDID, subjectId, schemaId } = setup
  const reached = (tenant: DaemonTenant, thid: string, state: string) =>
    webhook.reached(tenant, thid, state, waitMs)

  const connection = await makeOnce(
    issuer,
    () => findIn(issuer, '/connections', ({ label }) => label === name),
    'POST /connections',
    { label: name },
  )
  const { thid } = connection
  await makeOnce(
    holder,
    () => findIn(holder, `/connections?thid=${thid}`, () => true),
    'POST /connection-invitations',
    { invitation: oobOf(connection) },
  )
  await Promise.all([
    reached(issuer, thid, 'ConnectionResponseSent'),
    reached(holder, thid, 'ConnectionResponseReceived'),
  ])
  const { connectionId } = connection

  const offer = await makeOnce(
    issuer,
    () => findIn(issuer, '/issue-credentials/records', ({ claims }) => claims.flow === name),
    'POST /issue-credentials/credential-offers',
    { connectionId, issuingDID, claims: { flow: name }, schemaId, automaticIssuance: true },
  )
  const { recordId } = await reached(holder, offer['thid'], 'OfferReceived')
  await ask(holder, `POST /issue-credentials/records/${recordId}/accept-offer`, { subjectId })
  await Promise.all([
    reached(issuer, offer['thid'], 'CredentialSent'),
    reached(holder, offer['thid'], 'CredentialReceived'),
  ])

  const request = await makeOnce(
    issuer,
    () => findIn(issuer, '/present-proof/presentations', (record) => record['connectionId'] === connectionId),
    'POST /present-proof/presentations',
    {
      connectionId,
      options: { challenge: name, domain: 'https://verifier.example' },
      proofs: [{ schemaId, trustIssuers: [issuingDID] }],
    },
  )
  const { presentationId } = await reached(holder, request['thid'], 'RequestReceived')
  await ask(holder, `PATCH /present-proof/presentations/${presentationId}`, {
    action: 'request-accept',
    proofId: [recordId],
  })
  await reached(issuer, request['thid'], 'PresentationVerified')
  await ask(issuer, `PATCH /present-proof/presentations/${request['presentationId']}`, {
    action: 'presentation-accept',
  })
  await Promise.all([
    reached(issuer, request['thid'], 'PresentationAccepted'),
    reached(holder, request['thid'], 'PresentationSent'),
  ])
}

/** The newest matching record of a wallet. */
async function findIn(
  tenant: DaemonTenant,
  path: string,
  fits: (record: Record<string, any>) => boolean,
): Promise<Record<string, any> | undefined> {
  for (let page = `${path}${path.includes('?') ? '&' : '?'}limit=1000`; ;) {
    const { contents, next } = await ask(tenant, `GET ${page}`)
    const found = contents.find(fits)
    if (found || !next) return found
    page = next
  }
}
