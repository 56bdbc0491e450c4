/** Authorization requests of OpenID4VP (§5): parameters in a URL or in JSON, and the payload of a request object. */
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts'
import { describePath } from '../dcql/match.ts'
import { DcqlQuery } from '../dcql/query.ts'
import { reasonOf } from '../base/reason.ts'
import {
  type Check,
  type Decode,
  type Decoded,
  type Facts,
  reading,
  type Sources,
  textOf,
} from './decoded.ts'

/** Parameters whose value is JSON. */
const inJson = [
  'dcql_query',
  'client_metadata',
  'verifier_info',
  'transaction_data',
  'presentation_definition',
]

/** A request in a URL: its parameters, or a request object by value or by reference (RFC 9101). @throws {DecodeError} */
export async function decodeRequestUrl(url: URL, sources: Sources, decode: Decode): Promise<Decoded> {
  const form = 'an OpenID4VP authorization request'
  const parameters: JsonObject = {}
  for (const [name, value] of url.searchParams)
    parameters[name] = inJson.includes(name) ? reading(form, name, () => parseJson(value)) : value
  const { request, request_uri: uri } = parameters
  if (typeof request === 'string') {
    const inner = await decode(request, sources)
    return {
      ...toRequest(parameters),
      facts: { 'client id': textOf(parameters['client_id']), 'request object': 'by value, see below' },
      parts: [inner],
    }
  }
  if (typeof uri !== 'string') return toRequest(parameters)
  const method = textOf(parameters['request_uri_method'])
  const facts = { 'client id': textOf(parameters['client_id']), 'request object': uri, method }
  if (!sources.online)
    return { ...toRequest(parameters), facts: { ...facts, 'needs --online': 'the request is at that URL' } }
  const inner = await decode(await sources.online.getText(uri), sources)
  return { ...toRequest(parameters), facts, parts: [inner] }
}

/** A request in JSON, such as that of the Digital Credentials API. */
export function decodeRequest(parameters: JsonObject): Decoded {
  return toRequest(parameters)
}

function toRequest(parameters: JsonObject): Decoded {
  return {
    kind: 'authorization-request',
    title: 'OpenID4VP authorization request',
    facts: requestFacts(parameters),
    checks: [
      ...queryChecks(parameters['dcql_query']),
      { name: 'signature', result: 'not verified', detail: 'the parameters of a URL are not signed' },
    ],
    content: { document: parameters },
    parts: [],
  }
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
  return {
    kind: 'dcql-query',
    title: 'DCQL query',
    facts: {
      asks: describeQuery(query),
      alternatives: sets?.map(
        ({ options, required = true }) =>
          `${options.map((ids) => ids.join(' and ')).join(', or ')}${required ? '' : ' (optional)'}`,
      ),
    },
    checks: [],
    content: { document: query },
    parts: [],
  }
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
