/**
 * Authorization requests of OpenID4VP (§5): parameters in a URL or in JSON, and the payload of a request
 * object.
 */
import { isJsonObject, type JsonObject, parseJson } from '../../foundation/json.ts'
import { describePath } from '../../credentials/dcql/match.ts'
import { DcqlQuery } from '../../credentials/dcql/query.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { type Check, type Decoded, decodedOf, type Facts, reading, type Sources, textOf } from './decoded.ts'

/** Parameters whose value is JSON. */
const inJson = [
  'dcql_query',
  'client_metadata',
  'verifier_info',
  'transaction_data',
  'presentation_definition',
]

/** A request in the parameters of a URL. @throws {DecodeError} */
export function decodeRequestUrl(url: URL, sources: Sources): Promise<Decoded> {
  const form = 'an OpenID4VP authorization request'
  const parameters: JsonObject = {}
  for (const [name, value] of url.searchParams)
    parameters[name] = inJson.includes(name) ? reading(form, name, () => parseJson(value)) : value
  return decodeRequest(parameters, sources)
}

/**
 * A request, whose parameters may be in a request object by value or by reference (RFC 9101).
 *
 * @throws {DecodeError}
 */
export async function decodeRequest(parameters: JsonObject, sources: Sources): Promise<Decoded> {
  const { request, request_uri: uri, client_id: clientId } = parameters
  const [kind, title] = ['authorization-request', 'OpenID4VP authorization request']
  const content = { document: parameters }
  if (typeof request !== 'string' && typeof uri !== 'string') {
    const signature = 'the parameters are not signed'
    const checks: Check[] = [
      ...queryChecks(parameters['dcql_query']),
      { name: 'signature', result: 'not verified', detail: signature },
    ]
    return decodedOf(kind, title, requestFacts(parameters), { checks, content })
  }
  const object = typeof request === 'string' ? request : await sources.online?.getText(uri as string)
  const inner = object === undefined ? undefined : await sources.decode(object)
  const facts = {
    'client id': textOf(clientId),
    'request object': typeof request === 'string' ? 'by value' : (uri as string),
    method: textOf(parameters['request_uri_method']),
    content: inner ? 'see below' : 'needs --online: it is at that URL',
  }
  const checks = inner ? clientChecks(clientId, inner) : []
  return decodedOf(kind, title, facts, { checks, content, parts: inner ? [inner] : [] })
}

/** The client of the URL must be that of the request object (OpenID4VP §5.10.2). */
function clientChecks(clientId: unknown, { content }: Decoded): Check[] {
  const { payload } = content
  if (clientId === undefined || !isJsonObject(payload)) return []
  const isSame = payload['client_id'] === clientId
  return [
    {
      name: 'client id',
      result: isSame ? 'passed' : 'failed',
      detail: isSame ? 'the same in the request object' : 'another one than in the request object',
    },
  ]
}

function queryChecks(query: unknown): Check[] {
  if (query === undefined) return []
  const { success, error } = DcqlQuery.safeParse(query)
  return [
    success
      ? { name: 'query', result: 'passed', detail: 'DCQL that this agent reads' }
      : { name: 'query', result: 'failed', detail: reasonOf(error) },
  ]
}

/** The facts of a request, whatever its form. */
export function requestFacts(parameters: JsonObject): Facts {
  const {
    dcql_query: query,
    presentation_definition: definition,
    client_metadata: metadata,
    transaction_data: data,
  } = parameters
  const isEncrypted = isJsonObject(metadata) && isJsonObject(metadata['jwks'])
  return {
    'client id': textOf(parameters['client_id']),
    'response mode': textOf(parameters['response_mode']),
    'response to': textOf(parameters['response_uri'] ?? parameters['redirect_uri']),
    nonce: textOf(parameters['nonce']),
    state: textOf(parameters['state']),
    'expected origins': textOf(parameters['expected_origins']),
    encryption: isEncrypted ? 'the response is to be encrypted to a key of the verifier' : undefined,
    'transaction data': Array.isArray(data) ? data.length : undefined,
    asks:
      query !== undefined
        ? describeQuery(query)
        : isJsonObject(definition)
          ? 'for a presentation definition (an earlier draft of OpenID4VP)'
          : undefined,
  }
}

/** A DCQL query on its own. @throws {DecodeError} */
export function decodeQuery(value: unknown): Decoded {
  const query = reading('a DCQL query', 'content', () => DcqlQuery.parse(value))
  const { credential_sets: sets } = query
  const alternatives = sets?.map(
    ({ options, required = true }) =>
      `${options.map((ids) => ids.join(' and ')).join(', or ')}${required ? '' : ' (optional)'}`,
  )
  const facts = { asks: describeQuery(query), alternatives }
  return decodedOf('dcql-query', 'DCQL query', facts, { content: { document: query } })
}

/** One line for each credential. Undefined for a query that cannot be read: a check has the reason. */
function describeQuery(value: unknown): string[] | undefined {
  const { data } = DcqlQuery.safeParse(value)
  return data?.credentials.map(({ id, format, meta, claims }) => {
    const types = [
      ...(meta.vct_values ?? []),
      ...(meta.type_values ?? []).map((each) => each.join('+')),
    ].join(', ')
    const asked = claims
      ?.map(({ path, values }) => `${describePath(path)}${values ? `=${values.join('|')}` : ''}`)
      .join(', ')
    return `${id}: ${format} ${types}${asked === undefined ? ', no claims' : `, claims ${asked}`}`
  })
}
