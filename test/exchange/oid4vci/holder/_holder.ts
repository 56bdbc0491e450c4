/** A holder of credentials of OpenID4VCI issuers, and the issuers: each at an agent of its own. */
import { expect } from 'vitest'
import type { Client } from '../../../../daemon/client/client.ts'
import { startAgent, type TestAgent } from '../../../support/agent.ts'
import { publishSchema, until, type Tenant } from '../../../support/tenants.ts'
import { answer, open, sealedIn } from '../_authorization.ts'
import { offer, startIssuer, type OfferOptions, type Setup } from '../_wallet.ts'

export type Pair = {
  setup: Setup & { agent: TestAgent }
  agent: TestAgent
  holder: Tenant
  [Symbol.asyncDispose](): Promise<void>
}

/** An issuer with the configurations `Person` (jwt_vc_json) and `Licence` (dc+sd-jwt), and a holder. */
export async function startHolderPair(): Promise<Pair> {
  const started = await startIssuer()
  await addLicence(started)
  // The agents have no ledger in common.
  const body = { method: 'jwk' as const, documentTemplate: {} }
  const { longFormDid: issuingDID } = await started.tenant.call('POST /did-registrar/dids', { body })
  const setup = { ...started, issuingDID }
  const agent = await startAgent()
  return {
    setup,
    agent,
    holder: await agent.newTenant('holder'),
    async [Symbol.asyncDispose]() {
      for (const each of [agent, setup.agent]) await each[Symbol.asyncDispose]()
    },
  }
}

export async function addLicence({ tenant, issuingDID, issuerId }: Setup): Promise<void> {
  const schemaId = await publishSchema(tenant, issuingDID, {
    name: 'licence',
    properties: { name: { type: 'string', title: 'Full name' }, number: { type: 'string' } },
    required: ['name'],
  })
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: { configurationId: 'Licence', format: 'dc+sd-jwt', schemaId },
  })
}

export const licence = { credentialConfigurationId: 'Licence', claims: { name: 'Alice', number: 'L-1' } }

export type Record = Awaited<ReturnType<typeof receive>>

export function receive({ call }: Pick<Tenant, 'call'>, credentialOffer: string, more: object = {}) {
  return call('POST /issue-credentials/records/openid4vci', { body: { credentialOffer, ...more } })
}

export function accept({ call }: Pick<Tenant, 'call'>, recordId: string, txCode?: string) {
  const route = 'POST /issue-credentials/records/{recordId}/accept-offer'
  return call(route, { path: { recordId }, body: { txCode } })
}

export function show({ call }: { call: Client }, recordId: string) {
  return call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
}

const ends = ['CredentialReceived', 'IssuanceFailed', 'OfferExpired', 'OfferRejected']

/** Waits until the holder's record is in a state. */
export async function inState(tenant: { call: Client }, recordId: string, state: string): Promise<Record> {
  const record = await until(
    `the record is ${state}`,
    () => show(tenant, recordId),
    ({ protocolState }) => protocolState === state || ends.includes(protocolState),
  )
  expect(record.protocolState, JSON.stringify(record.metaLastFailure)).toBe(state)
  return record
}

/** Receives and accepts an offer, and waits for a state of the record. */
export async function acceptOffer(
  holder: Pick<Tenant, 'call'>,
  credentialOffer: string,
  state = 'CredentialReceived',
  more: object = {},
): Promise<Record> {
  const { recordId } = await receive(holder, credentialOffer, more)
  await accept(holder, recordId)
  return inState(holder, recordId, state)
}

/** Offers a credential, and receives and accepts the offer. */
export async function take({ setup, holder }: Pick<Pair, 'setup' | 'holder'>, options: OfferOptions = {}) {
  const made = await offer(setup, options)
  const { recordId } = await receive(holder, made.credentialOffer)
  await accept(holder, recordId, made.txCode)
  return { ...made, issuerRecordId: made.recordId, recordId }
}

/** The consent of the person in a browser, at the URL of a record. Returns the parameters of the redirect. */
export async function consentAt(
  setup: Setup,
  { openid4vci }: Record,
  { decision = 'accept', txCode }: { decision?: 'accept' | 'decline'; txCode?: string | undefined } = {},
) {
  const url = new URL(openid4vci!.authorizationUrl!)
  const page = await open(setup, url.search.slice(1))
  const fields = { request: sealedIn(page), decision, tx_code: txCode }
  const { location } = await answer(setup, fields)
  expect(location).toBeDefined()
  return Object.fromEntries(location!.searchParams) as { code: string; state: string; iss: string }
}
