/**
 * Two tenants, and flows between them, driven by their records. `startPair` has both at one agent in this
 * process, `startDaemonPair` each at a daemon of its own.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../daemon/client/client.ts'
import { sharedAgent } from './agent.ts'
import type { Tenant } from './api.ts'
import { assemble } from './assemble.ts'
import { Daemon } from './daemon.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type { Tenant }

/** Polls until the value fits. @throws after a minute, with the description and the last value. */
export async function until<Value>(
  what: string,
  ask: () => Promise<Value>,
  fits: (value: Value) => boolean,
): Promise<Value> {
  let last: Value | undefined
  for (let attempt = 0; attempt < 600; attempt++) {
    last = await ask()
    if (fits(last)) return last
    // Short intervals first, then longer ones: long waits must not load the agent.
    await sleep(Math.min(10 + attempt, 100))
  }
  throw new Error(`${what} did not happen: ${JSON.stringify(last)}`)
}

/** Waits for one side's connection of a thread in a state. */
export function connectionIn(call: Client, thid: string, state: string) {
  const ask = async () => (await call('GET /connections', { query: { thid } })).contents
  return recordIn(`connection ${state}`, ask, (record) => record.state === state)
}

/** Waits for one side's credential record of a thread in a state. */
export function credentialIn(call: Client, thid: string, state: string) {
  const ask = async () => (await call('GET /issue-credentials/records', { query: { thid } })).contents
  return recordIn(`credential ${state}`, ask, (record) => record.protocolState === state)
}

/** Waits for one side's presentation of a thread in a state. */
export function presentationIn(call: Client, thid: string, state: string) {
  const ask = async () => (await call('GET /present-proof/presentations', { query: { thid } })).contents
  return recordIn(`presentation ${state}`, ask, (record) => record.status === state)
}

/** Waits for any record that fits: a tenant may have both sides of a thread. */
async function recordIn<Item>(
  what: string,
  ask: () => Promise<Item[]>,
  fits: (record: Item) => boolean,
): Promise<Item> {
  return (await until(what, ask, (records) => records.some(fits))).find(fits)!
}

/** The `_oob` value of an invitation. */
export function oobOf({ invitation }: { invitation?: { invitationUrl: string } | undefined }): string {
  return new URL(invitation!.invitationUrl).searchParams.get('_oob')!
}

/** Connects two tenants. Returns the thread and the connection id of each side. */
export async function connect(inviter: Tenant, invitee: Tenant) {
  const made = await inviter.call('POST /connections', { body: { label: 'invitee' } })
  const accepted = await invitee.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
  await connectionIn(invitee.call, made.thid, 'ConnectionResponseReceived')
  await connectionIn(inviter.call, made.thid, 'ConnectionResponseSent')
  return {
    thid: made.thid,
    inviterConnectionId: made.connectionId,
    inviteeConnectionId: accepted.connectionId,
  }
}

/** Creates a DID with one key. A DID for assertions is published. */
export async function newDid(
  { call }: Tenant,
  purpose: 'authentication' | 'assertionMethod',
  curve: 'secp256k1' | 'Ed25519' = 'secp256k1',
) {
  const { longFormDid } = await call('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [{ id: 'key-1', purpose, curve }] } },
  })
  const did = longFormDid.split(':').slice(0, 3).join(':')
  if (purpose === 'authentication') return { did, longFormDid }
  await call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: did } })
  await until(
    'publication',
    () => call('GET /did-registrar/dids/{didRef}', { path: { didRef: did } }),
    ({ status }) => status === 'PUBLISHED',
  )
  return { did, longFormDid }
}

/** Publishes a JSON Schema of objects, by default with an optional name. Returns its URL. */
export async function publishSchema(
  { call, url }: Pick<Tenant, 'call' | 'url'>,
  author: string,
  { name = 'person', ...terms }: { name?: string; [term: string]: unknown } = {},
): Promise<string> {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { name: { type: 'string' } },
    ...terms,
  }
  const type = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'
  const body = { name, version: '1.0.0', type, author, schema }
  const { guid } = await call('POST /schema-registry/schemas', { body })
  return `${url}/schema-registry/schemas/${guid}`
}

/** Issues a JWT credential over a connection. Returns both record ids, the thread and the JWT. */
export async function issue(
  issuer: Tenant,
  holder: Tenant,
  connectionId: string,
  issuingDID: string,
  subjectId: string,
  claims: Record<string, any> = { name: 'Alice' },
  schemaId?: string,
) {
  const offer = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims, schemaId, automaticIssuance: true },
  })
  return receive(holder, offer, { subjectId })
}

/** Accepts an offer that is issued automatically. Returns the holder's credential. */
export async function receive(
  holder: Tenant,
  offer: { recordId: string; thid: string },
  body: { subjectId: string; keyId?: string | undefined },
) {
  const { recordId } = await credentialIn(holder.call, offer.thid, 'OfferReceived')
  await holder.call('POST /issue-credentials/records/{recordId}/accept-offer', { path: { recordId }, body })
  const { credential } = await credentialIn(holder.call, offer.thid, 'CredentialReceived')
  return {
    recordId,
    issuerRecordId: offer.recordId,
    thid: offer.thid,
    credential: Buffer.from(credential!, 'base64url').toString(),
  }
}

/** An agent with two tenants: an issuer and a holder. */
export async function startPair(variables: Record<string, string> = {}, start = sharedAgent) {
  const agent = await start(variables)
  const [issuer, holder] = [await agent.newTenant('issuer'), await agent.newTenant('holder')]
  return { agent, issuer, holder, [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() }
}

/** Two daemons that share a ledger and nothing else, with a tenant each; `env` adds to their variables. */
export function startDaemonPair(env: Record<string, string> = {}) {
  return assemble(async (use) => {
    const folder = use(await temporaryFolder())
    const shared = { VDR_URL: `sqlite:${join(folder.path, 'vdr.db')}`, DEFAULT_WALLET_ENABLED: 'false' }
    const start = async () => use(await Daemon.start({ ...shared, ...env }))
    const [acme, alice] = await Promise.all([start(), start()])
    return {
      acme,
      alice,
      issuer: await acme.newTenant('acme'),
      holder: await alice.newTenant('alice'),
    }
  })
}

/** The problem of a refused call. @throws if the call succeeds. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ status: number; type: string; detail: string }> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error: error as { problem?: { status: number; type: string; detail: string } } }),
  )
  if (!('error' in outcome)) throw new Error(`the call was not refused: ${JSON.stringify(outcome.value)}`)
  if (!outcome.error.problem) throw outcome.error as Error
  return outcome.error.problem
}
