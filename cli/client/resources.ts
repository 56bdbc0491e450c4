/**
 * The resources that the daemon lists: their names, the fields of a list item, and the command that lists
 * them.
 */
import type { Client } from '../../daemon/client/client.ts'
import { connectionName } from '../format/text.ts'
import type { Answer, Key } from './api.ts'

type ListKey = { [K in Key]: Answer<K> extends { contents: readonly object[] } ? K : never }[Key]
type ItemOf<K extends ListKey> = Answer<K>['contents'][number]
type Field<K extends ListKey> = keyof ItemOf<K> & string

type Resource<K extends ListKey> = {
  /** The word for one of them. */
  noun: string
  listCommand: string
  endpoint: K
  id: Field<K>
  /** The field of the name, by which users may refer to it too. */
  name?: Field<K>
  state?: Field<K>
  /** A description for people; the name by default. */
  about?: (item: ItemOf<K>) => string | undefined
}

const resource = <K extends ListKey>(definition: Resource<K>): Resource<any> => definition
const nameAndVersion = ({ name, version }: { name: string; version: string }) => `${name} ${version}`

const table = {
  apiKey: resource({
    noun: 'key',
    listCommand: 'agent tenant key list <tenant>',
    endpoint: 'GET /iam/entities/{id}/api-keys',
    id: 'id',
    name: 'name',
  }),
  challenge: resource({
    noun: 'challenge',
    listCommand: 'agent signin list',
    endpoint: 'GET /did-authentication/challenges',
    id: 'id',
    state: 'state',
  }),
  connection: resource({
    noun: 'connection',
    listCommand: 'agent connection list',
    endpoint: 'GET /connections',
    id: 'connectionId',
    name: 'label',
    state: 'state',
    about: connectionName,
  }),
  creddef: resource({
    noun: 'credential definition',
    listCommand: 'agent creddef list',
    endpoint: 'GET /credential-definition-registry/definitions',
    id: 'guid',
    name: 'name',
    state: 'state',
    about: nameAndVersion,
  }),
  credential: resource({
    noun: 'credential record',
    listCommand: 'agent credential list',
    endpoint: 'GET /issue-credentials/records',
    id: 'recordId',
    state: 'protocolState',
    about: ({ role }) => role,
  }),
  definition: resource({
    noun: 'presentation definition',
    listCommand: 'agent presentation-definition list',
    endpoint: 'GET /presentation-exchange/presentation-definitions',
    id: 'id',
    name: 'name',
  }),
  did: resource({
    noun: 'DID',
    listCommand: 'agent did list',
    endpoint: 'GET /did-registrar/dids',
    id: 'did',
    name: 'label',
    state: 'status',
  }),
  didRequest: resource({
    noun: 'DID request',
    listCommand: 'agent onboard list',
    endpoint: 'GET /onboard/did-requests',
    id: 'id',
    state: 'state',
  }),
  event: resource({
    noun: 'event',
    listCommand: 'agent event list',
    endpoint: 'GET /events',
    id: 'id',
    about: ({ type }) => type,
  }),
  issuer: resource({
    noun: 'issuer',
    listCommand: 'agent issuer list',
    endpoint: 'GET /oid4vci/issuers',
    id: 'id',
    about: ({ authorizationServerUrl }) => authorizationServerUrl,
  }),
  issuerCertificate: resource({
    noun: 'issuer certificate',
    listCommand: 'agent issuer-cert list',
    endpoint: 'GET /issuer-certificates',
    id: 'id',
    state: 'state',
  }),
  policy: resource({
    noun: 'policy',
    listCommand: 'agent policy list',
    endpoint: 'GET /verification/policies',
    id: 'id',
    name: 'name',
  }),
  proof: resource({
    noun: 'presentation record',
    listCommand: 'agent proof list',
    endpoint: 'GET /present-proof/presentations',
    id: 'presentationId',
    state: 'status',
    about: ({ role }) => role,
  }),
  schema: resource({
    noun: 'schema',
    listCommand: 'agent schema list',
    endpoint: 'GET /schema-registry/schemas',
    id: 'guid',
    name: 'name',
    about: nameAndVersion,
  }),
  tenant: resource({
    noun: 'tenant',
    listCommand: 'agent tenant list',
    endpoint: 'GET /iam/entities',
    id: 'id',
    name: 'name',
  }),
  trustAnchor: resource({
    noun: 'trust anchor',
    listCommand: 'agent trust list',
    endpoint: 'GET /trust-anchors',
    id: 'id',
    name: 'name',
    about: ({ name, subject, value }) => name ?? subject ?? value,
  }),
  wallet: resource({
    noun: 'wallet',
    listCommand: 'agent wallet list',
    endpoint: 'GET /wallets',
    id: 'id',
    name: 'name',
  }),
  webhook: resource({
    noun: 'webhook',
    listCommand: 'agent webhook list',
    endpoint: 'GET /events/webhooks',
    id: 'id',
    about: ({ url }) => url,
  }),
}

export type ResourceName = keyof typeof table
export const resources: Readonly<Record<ResourceName, Resource<any>>> = table

/** A resource of any kind: its id, its state, and the names by which users may refer to it. */
export type Item = { id: string; names: string[]; state: string | undefined; about: string | undefined }

/**
 * Reads a page of a list.
 *
 * @param given the arguments and flags of the command: the keys of a tenant are listed by the tenant's id,
 * the events of another wallet by the wallet's.
 */
export async function readItems(
  name: ResourceName,
  call: Client,
  query: { limit: number; offset?: number; order?: 'asc' | 'desc' },
  given: Readonly<Record<string, unknown>> = {},
): Promise<{ items: Item[]; hasMore: boolean }> {
  const { endpoint, id, name: nameField, state, about } = resources[name]
  const list = call as unknown as (
    key: string,
    input: object,
  ) => Promise<{ contents: Record<string, any>[]; next?: string }>
  const path = { id: String(given['id']) }
  const walletId = endpoint === 'GET /events' ? given['wallet'] : undefined
  const input = { query: { ...query, walletId } }
  const { contents, next } = await list(endpoint, endpoint.includes('{id}') ? { path, ...input } : input)
  const items = contents.map((item): Item => {
    const itemName: string | undefined = (nameField && item[nameField]) ?? undefined
    const description: string | undefined = about ? about(item) : itemName
    const names = [itemName, ...(about === nameAndVersion ? [description] : [])]
    return {
      id: item[id],
      names: names.filter((each) => each !== undefined),
      state: state && item[state],
      about: description,
    }
  })
  return { items, hasMore: next !== undefined }
}
