/** What the daemon has by now, for completion: asked without a word, and given up soon. */
import { statSync } from 'node:fs'
import { createClient, type Client } from '../../daemon/client.ts'
import { profileNames } from '../../src/base/profile.ts'
import { findAccess, fromProcess, fromVariables } from '../_client/settings.ts'
import { safeLine } from '../_format/safe.ts'
import type { Kind } from './kinds.ts'
import type { Candidate, Given } from './words.ts'

/** How long a shell may be kept waiting. */
const patienceMs = 700

/** How many there may be to choose from. */
const query = { limit: 200 }

/** Something that there is. */
export type Thing = Candidate & { state?: string | undefined }

type Read = (call: Client) => Promise<Thing[]>

const reads: Record<Exclude<Kind, 'profile' | 'record'>, Read> = {
  challenge: async (call) =>
    (await call('GET /did-authentication/challenges', { query })).contents.map(({ id, state }) => ({ value: id, state })),
  connection: async (call) =>
    (await call('GET /connections', { query })).contents.map(({ connectionId, label, state }) => ({
      value: connectionId,
      state,
      about: label,
    })),
  credential: async (call) =>
    (await call('GET /issue-credentials/records', { query })).contents.map(({ recordId, role, protocolState }) => ({
      value: recordId,
      state: protocolState,
      about: role,
    })),
  definition: async (call) =>
    (await call('GET /presentation-exchange/presentation-definitions', { query })).contents.map(({ id, name }) => ({
      value: id,
      about: name ?? undefined,
    })),
  creddef: async (call) =>
    (await call('GET /credential-definition-registry/definitions', { query })).contents.map(({ guid, name, version, state }) => ({
      value: guid,
      state,
      about: `${name} ${version}`,
    })),
  did: async (call) =>
    (await call('GET /did-registrar/dids', { query })).contents.map(({ did, status }) => ({ value: did, state: status })),
  didRequest: async (call) => (await call('GET /onboard/did-requests', { query })).contents.map(({ id, state }) => ({ value: id, state })),
  policy: async (call) =>
    (await call('GET /verification/policies', { query })).contents.map(({ id, name }) => ({ value: id, about: name })),
  proof: async (call) =>
    (await call('GET /present-proof/presentations', { query })).contents.map(({ presentationId, role, status }) => ({
      value: presentationId,
      state: status,
      about: role,
    })),
  schema: async (call) =>
    (await call('GET /schema-registry/schemas', { query })).contents.map(({ guid, name, version }) => ({
      value: guid,
      about: `${name} ${version}`,
    })),
  tenant: async (call) => (await call('GET /iam/entities', { query })).contents.map(({ id, name }) => ({ value: id, about: name })),
  wallet: async (call) => (await call('GET /wallets', { query })).contents.map(({ id, name }) => ({ value: id, about: name })),
  webhook: async (call) => (await call('GET /events/webhooks', { query })).contents.map(({ id, url }) => ({ value: id, about: url })),
}

/** The things of a kind, at the daemon that the flags on the line and the surroundings name. @throws when it cannot be asked. */
export async function listThings(kind: Kind, given: Given): Promise<Thing[]> {
  if (kind === 'profile') return profileNames(fromVariables().AGENT_CONFIG_DIR).map((name) => ({ value: name }))
  const { url, profile } = given
  const { adminKey, apiKey, ...access } = findAccess(
    { url, profile, 'api-key-file': fileOf(given['api-key-file']), 'admin-key-file': fileOf(given['admin-key-file']) },
    fromProcess(),
  )
  const isAdmins = kind === 'tenant' || kind === 'wallet'
  const [header, secret] = isAdmins && adminKey ? (['x-admin-api-key', adminKey] as const) : (['apikey', apiKey] as const)
  const call = createClient(access.url, secret ? { [header]: secret.reveal() } : {}, { timeoutMs: patienceMs })
  const kinds = kind === 'record' ? (['connection', 'credential', 'proof'] as const) : [kind]
  const things = (await Promise.all(kinds.map((each) => reads[each](call)))).flat()
  return things.map(({ value, state, about }) => ({ value, state, about: safeLine([about, state].filter(Boolean).join(', ')) }))
}

/** A file that can be read at once: standard input is the shell's, and a pipe may have no end. */
function fileOf(path: string | undefined): string | undefined {
  return path !== undefined && path !== '-' && statSync(path).isFile() ? path : undefined
}
