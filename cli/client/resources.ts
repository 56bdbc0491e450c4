/** The ids of the daemon’s records by kind, with names and states. Completion and the search for an id share it. */
import type { Client } from '../../daemon/client/client.ts'
import { connectionName } from '../format/names.ts'

/** The kinds of things that the daemon lists. */
export type Kind = keyof typeof reads

/** A thing: its id, the names by which it can be named as well, its state, and some words about it. */
export type Thing = {
  value: string
  names?: readonly string[]
  state?: string | undefined
  about?: string | undefined
}

type Query = { limit: number; offset?: number; order?: 'asc' | 'desc' }
type Page = { things: Thing[]; hasMore: boolean }
/** Given are the other arguments and flags of the command: the keys of a tenant need its id. */
type Given = Readonly<Record<string, unknown>>
type Read = (call: Client, query: Query, given: Given) => Promise<Page>

function page<Item>(
  { contents, next }: { contents: Item[]; next?: string | undefined },
  toThing: (item: Item) => Thing,
): Page {
  return { things: contents.map(toThing), hasMore: next !== undefined }
}

const named = ({ id, name }: { id: string; name: string }): Thing => ({
  value: id,
  names: [name],
  about: name,
})
const versioned = ({ guid, name, version }: { guid: string; name: string; version: string }): Thing => ({
  value: guid,
  names: [name, `${name} ${version}`],
  about: `${name} ${version}`,
})

const reads = {
  apiKey: async (call, query, given) =>
    page(
      await call('GET /iam/entities/{id}/api-keys', { path: { id: String(given['id']) }, query }),
      ({ id, name }) => ({
        value: id,
        names: name === undefined ? [] : [name],
        about: name,
      }),
    ),
  challenge: async (call, query) =>
    page(await call('GET /did-authentication/challenges', { query }), ({ id, state }) => ({
      value: id,
      state,
    })),
  connection: async (call, query) =>
    page(await call('GET /connections', { query }), (connection) => ({
      value: connection.connectionId,
      names: connection.label === undefined ? [] : [connection.label],
      state: connection.state,
      about: connectionName(connection),
    })),
  credential: async (call, query) =>
    page(await call('GET /issue-credentials/records', { query }), ({ recordId, role, protocolState }) => ({
      value: recordId,
      state: protocolState,
      about: role,
    })),
  creddef: async (call, query) =>
    page(
      await call('GET /credential-definition-registry/definitions', { query }),
      ({ state, ...definition }) => ({
        ...versioned(definition),
        state,
      }),
    ),
  definition: async (call, query) =>
    page(await call('GET /presentation-exchange/presentation-definitions', { query }), ({ id, name }) => ({
      value: id,
      names: name ? [name] : [],
      about: name ?? undefined,
    })),
  did: async (call, query) =>
    page(await call('GET /did-registrar/dids', { query }), ({ did, status }) => ({
      value: did,
      state: status,
    })),
  didRequest: async (call, query) =>
    page(await call('GET /onboard/did-requests', { query }), ({ id, state }) => ({ value: id, state })),
  policy: async (call, query) => page(await call('GET /verification/policies', { query }), named),
  proof: async (call, query) =>
    page(await call('GET /present-proof/presentations', { query }), ({ presentationId, role, status }) => ({
      value: presentationId,
      state: status,
      about: role,
    })),
  schema: async (call, query) => page(await call('GET /schema-registry/schemas', { query }), versioned),
  tenant: async (call, query) => page(await call('GET /iam/entities', { query }), named),
  wallet: async (call, query) => page(await call('GET /wallets', { query }), named),
  webhook: async (call, query) =>
    page(await call('GET /events/webhooks', { query }), ({ id, url }) => ({ value: id, about: url })),
} satisfies Record<string, Read>

/** A page of the things of a kind. */
export function readThings(kind: Kind, call: Client, query: Query, given: Given = {}): Promise<Page> {
  const read: Read = reads[kind]
  return read(call, query, given)
}
