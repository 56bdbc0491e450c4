/** The query of a request as a wallet reads it (OpenID4VP 1.0 §6). */
import { isJsonObject, type JsonObject } from '../../../foundation/json.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { DcqlQuery, isUnbound } from '../../../credentials/dcql/query.ts'
import { formatOfId, openIdFormats } from '../../../definitions/format-names.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { invalid, type ReceivedRequest } from './request-object.ts'

/** @throws {OAuthError} */
export function readQuery({ parameters, origin }: ReceivedRequest, state: string | undefined): DcqlQuery {
  if (parameters['dcql_query'] === undefined) throw invalid('dcql_query is missing.')
  const data = parseQuery(completed(parameters['dcql_query']))
  if (!data.credentials.some(({ format }) => formatOfId(format)))
    throw new OAuthError('vp_formats_not_supported', `This wallet presents ${openIdFormats.join(' and ')}.`)
  if (data.credentials.some(isUnbound) && state === undefined && origin === undefined)
    throw invalid('state is missing, which a query without holder binding needs (§5.3).')
  return data
}

/** @throws {OAuthError} */
export function parseQuery(query: unknown): DcqlQuery {
  const { success, data, error } = DcqlQuery.safeParse(query)
  if (success) return data
  throw invalid(`dcql_query: ${reasonOf(error)}.`)
}

/** Lists that say nothing if they are empty. An empty list of `values` would say that nothing matches. */
const [ofQuery, ofCredential] = [['credential_sets'], ['claims', 'claim_sets', 'trusted_authorities']]

/**
 * The query with what verifiers leave out or leave empty, although it must not be: `meta`, which says nothing
 * if it is empty (§6.1), and lists.
 */
function completed(query: unknown): unknown {
  if (!isJsonObject(query)) return query
  const { credentials } = query
  return {
    ...withoutEmpty(query, ofQuery),
    ...(Array.isArray(credentials) && {
      credentials: credentials.map((each: unknown) =>
        isJsonObject(each) ? { meta: {}, ...withoutEmpty(each, ofCredential) } : each,
      ),
    }),
  }
}

function withoutEmpty(object: JsonObject, lists: readonly string[]): JsonObject {
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !(lists.includes(name) && isEmpty(value))),
  )
}

export function describeQuery({ credentials }: DcqlQuery): string {
  return `${credentials.length} credential ${credentials.length === 1 ? 'query' : 'queries'}: ${credentials.map(({ id, format }) => `${id} (${format})`).join(', ')}`
}
