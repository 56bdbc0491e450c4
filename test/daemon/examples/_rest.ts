/** Calls of the operations that the story leaves out because their route says how. */
import { splitKey, type Route } from '../../../daemon/http/route.ts'
import { routes } from '../../../daemon/routes/index.ts'
import type { Client } from '../../../daemon/client/client.ts'
import { sampleOf } from '../../support/sample.ts'
import type { Example } from './_recorder.ts'

const all: readonly Route[] = routes

const keyed = 'a definition has its key after seconds; POST has the same type without it'
const ledger = 'for other agents, which are NeoPRISM clients already'
/** The operations without an example of their response, and the reason. Requests have no exceptions. */
export const withoutResponse: Readonly<Record<string, string>> = {
  'GET /_system/doctor': 'it depends on the machine',
  'GET /_system/ready': 'it depends on the state of the daemon',
  'GET /api/_system/health': ledger,
  'GET /api/dids': ledger,
  'GET /api/dids/{did}': ledger,
  'GET /api/dids/{did}/protobuf': ledger,
  'GET /api/operations/{operationId}': ledger,
  'GET /api/transactions/{transactionId}': ledger,
  'GET /api/vdr-data/{entryHash}': ledger,
  'GET /api/vdr-data/{entryHash}/metadata': ledger,
  'GET /credential-definition-registry/definitions/did-url/{guid}': keyed,
  'GET /credential-definition-registry/definitions/did-url/{guid}/definition': keyed,
  'GET /credential-definition-registry/definitions/{guid}': keyed,
  'GET /credential-definition-registry/definitions/{guid}/definition': keyed,
  'GET /credential-status/{id}': 'a compressed list of 131,072 bits in a signed credential',
  'GET /docs/openapi.json': 'this document',
  'PUT /_system/nodes/{name}/draining': 'the story has no PostgreSQL',
  'DELETE /_system/nodes/{name}/draining': 'the story has no PostgreSQL',
  'GET /oid4vci/issuers/{issuerId}/credential-types/{configurationId}/{version}':
    'as that of the first version',
  'GET /web/{name}/did.json': 'a DID document, as that of GET /dids/{didRef}',
  'POST /wallets/{walletId}/resumption': 'the wallet of GET /wallets/{walletId}',
}

const isAnswered = ({ contract: { media, reply } }: Route) =>
  reply[1] !== null && (media?.includes('application/json') ?? true)
/** The operations whose response is JSON. */
export const withResponse = all.filter(isAnswered).map(({ key }) => key)
/** The operations with a body, of JSON or a form. */
export const withRequest = all.filter(({ contract }) => contract.body).map(({ key }) => key)

/** Calls them: first those that make or change something, then those that read, last those that delete. */
export async function callRest(clients: { admin: Client; tenant: Client }, told: Map<string, Example>) {
  const order = ({ key }: Route) => ['GET', 'DELETE'].indexOf(splitKey(key)[0])
  const needed = new Set([...withRequest, ...withResponse].filter((key) => !(key in withoutResponse)))
  const rest = all.filter(
    ({ key, contract }) => needed.has(key) && !told.has(key) && contract.access !== 'public',
  )
  for (const { key, contract } of rest.toSorted((a, b) => order(a) - order(b))) {
    const input = inputOf(key, contract, told)
    const call = contract.access === 'admin' ? clients.admin : clients.tenant
    if (input) await (call as (key: string, input: object) => Promise<unknown>)(key, input)
  }
}

/**
 * The id that the POST to the collection has returned, and the example of the body. Undefined if there is
 * none: the story has to call the operation.
 */
function inputOf(key: Route['key'], { body, query }: Route['contract'], told: ReadonlyMap<string, Example>) {
  const [, path] = splitKey(key)
  const [parameter, ...others] = path.match(/(?<=\{)\w+/g) ?? []
  const made = told.get(`POST ${path.split('/{')[0]}`)?.response as Record<string, string> | undefined
  const id = parameter && (made?.[parameter] ?? made?.['id'])
  const sample = body && (body.safeParse({}).success ? {} : body.meta()?.['examples'] && sampleOf(body))
  if (others.length > 0 || (parameter && !id) || (body && !sample) || query?.safeParse({}).success === false)
    return undefined
  return { ...(parameter && { path: { [parameter]: id } }), ...(body && { body: sample }) }
}
