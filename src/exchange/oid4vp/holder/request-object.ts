/**
 * Reads an authorization request as a wallet gets it (OpenID4VP 1.0 §5): by value, as a Request Object, or
 * from a `request_uri`.
 */
import { openIdAlgorithms, supportedFormats } from '../../../definitions/format-names.ts'
import { quote } from '../../../foundation/faults.ts'
import { isPassingStatus, withoutNullMembers } from '../../../foundation/foreign.ts'
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../../../foundation/json.ts'
import { isMediaType } from '../../../foundation/media-type.ts'
import { Problem } from '../../../foundation/problem.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { decodeHeader, decodeJws, decodePayload, type Jws } from '../../../credentials/codecs/jws.ts'
import { VerificationError } from '../../../credentials/codecs/verification-error.ts'
import { isOutage, NoFreeConnectionError, ServerDownError } from '../../../foundation/net/destinations.ts'
import { isPublicUrl } from '../../../foundation/net/public-url.ts'
import { UnreachableError } from '../../../foundation/net/unreachable-error.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { newSecret } from '../../../foundation/oauth/secrets.ts'
import type { Wallet } from '../../../wallet/wallet.ts'

/** Notes a step for the record. */
export type Note = (step: string, detail: string) => void

/** The parameters of a request, and the signature of its Request Object if it has one. */
export type ReceivedRequest = {
  /** The `client_id` of the URL. */
  clientId: string
  parameters: JsonObject
  /** Undefined: the request is not signed. */
  jws?: Jws
  /** Of a request of the Digital Credentials API: the origin that the platform names. */
  origin?: string
  /** The `wallet_nonce` that the Request Object must have. */
  walletNonce?: string
  /** Where the Request Object was retrieved. */
  requestUri?: string
}

/** Of a Request Object in bytes. The limits of `parseJson` apply as well. */
const limits = { timeoutMs: 10_000, maxBytes: 262_144 }

const mediaType = 'application/oauth-authz-req+jwt'

/** RFC 9101 §10.8. */
const typ = 'oauth-authz-req+jwt'

const walletMetadata = {
  vp_formats_supported: supportedFormats(),
  client_id_prefixes_supported: ['redirect_uri', 'decentralized_identifier', 'x509_san_dns', 'x509_hash'],
  response_types_supported: ['vp_token'],
  response_modes_supported: ['direct_post', 'direct_post.jwt'],
  authorization_encryption_alg_values_supported: ['ECDH-ES'],
  authorization_encryption_enc_values_supported: ['A256GCM', 'A128GCM', 'A256CBC-HS512', 'A128CBC-HS256'],
}

/** Parameters of a URL that are JSON (§5.1). */
const jsonParameters = ['dcql_query', 'client_metadata', 'transaction_data', 'verifier_info']

/** @throws {OAuthError} if the request cannot be read */
export async function readReceivedRequest(
  wallet: Wallet,
  authorizationRequest: string,
  note: Note,
): Promise<ReceivedRequest> {
  const given = readUrl(authorizationRequest)
  const { client_id: clientId, request, request_uri: requestUri, request_uri_method: method } = given
  if (clientId === undefined) throw invalid('client_id is missing in the authorization request.')
  if (request !== undefined && requestUri !== undefined)
    throw invalid('request and request_uri exclude each other (RFC 9101).')
  if (method !== undefined && requestUri === undefined)
    throw invalid('request_uri_method needs a request_uri.')
  if (request !== undefined) {
    note('request', `A Request Object by value, ${request.length} characters.`)
    return { clientId, ...readObject(request, clientId) }
  }
  if (requestUri === undefined) {
    note('request', 'Parameters by value, not signed.')
    return { clientId, parameters: toParameters(given) }
  }
  if (method !== undefined && method !== 'get' && method !== 'post')
    throw new OAuthError('invalid_request_uri_method', 'request_uri_method is neither get nor post.')
  checkUrl('request_uri', requestUri)
  const walletNonce = method === 'post' ? newSecret() : undefined
  const text = await retrieveRequestObject(wallet, requestUri, { clientId, walletNonce }, note)
  const object = readObject(text, clientId)
  return { clientId, requestUri, ...object, ...(walletNonce !== undefined && { walletNonce }) }
}

/**
 * The parameters of a URL. The scheme of wallets is not fixed (§9). One without a value is absent (RFC 6749
 * §3.1).
 */
export function readUrl(text: string): Record<string, string> {
  const trimmed = text.trim()
  if (!URL.canParse(trimmed)) throw invalid('The authorization request is not a URL such as openid4vp://?….')
  const { searchParams } = new URL(trimmed)
  const names = [...searchParams.keys()]
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined)
    throw invalid(`${repeated.slice(0, 100)} is in the authorization request twice.`)
  return Object.fromEntries([...searchParams].filter(([, value]) => value !== ''))
}

function toParameters(given: Record<string, string>): JsonObject {
  const parameters = Object.entries(given).map(([name, text]) => [
    name,
    jsonParameters.includes(name) ? read(name, text) : text,
  ])
  return withoutNullMembers(Object.fromEntries(parameters) as JsonObject)
}

function read(name: string, text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) throw invalid(`${name} ${error.message}.`)
    throw error
  }
}

/**
 * The content of a Request Object. Its signature is not verified. Only requests of `redirect_uri` may have
 * none.
 */
export function readObject(text: string, clientId: string): Pick<ReceivedRequest, 'parameters' | 'jws'> {
  try {
    const header = decodeHeader(text)
    if (!isMediaType(header['typ'], typ))
      throw invalid(`The typ of the Request Object is ${quote(header['typ'])}, not ${typ}.`)
    const isUnsigned = header['alg'] === 'none' && text.endsWith('.')
    if (isUnsigned && clientId.startsWith('redirect_uri:'))
      return { parameters: withoutNullMembers(decodePayload(text)) }
    const jws = decodeJws(text)
    return { parameters: withoutNullMembers(jws.payload), jws }
  } catch (error) {
    if (error instanceof VerificationError)
      throw new OAuthError('invalid_request', `The Request Object cannot be read: ${error.message}.`, {
        cause: error,
      })
    throw error
  }
}

/**
 * Retrieves a Request Object (§5.10). Redirects are errors.
 *
 * @throws {OAuthError} if it cannot be retrieved; {Problem} 503 if another attempt may succeed
 */
export async function retrieveRequestObject(
  { id, env }: Wallet,
  requestUri: string,
  { clientId, walletNonce }: { clientId: string; walletNonce: string | undefined },
  note: Note,
): Promise<string> {
  const method = walletNonce === undefined ? 'GET' : 'POST'
  const isSigned = !clientId.startsWith('redirect_uri:')
  const metadata = {
    ...walletMetadata,
    ...(isSigned && { request_object_signing_alg_values_supported: openIdAlgorithms }),
  }
  const form =
    walletNonce === undefined
      ? undefined
      : { wallet_nonce: walletNonce, wallet_metadata: JSON.stringify(metadata) }
  const exchange = {
    method,
    headers: { accept: mediaType, ...(form && { 'content-type': 'application/x-www-form-urlencoded' }) },
    ...(form && { body: new URLSearchParams(form).toString() }),
    purpose: 'document',
    ...limits,
  } as const
  try {
    const answer = await env.destinations.run(requestUri, id, () => env.http.exchange(requestUri, exchange))
    note('request_uri', `${method} ${requestUri}: ${answer.status}, ${answer.text.length} characters`)
    if (answer.status === 200) return answer.text.trim()
    if (isPassingStatus(answer.status)) throw unavailable(requestUri, `it answered ${answer.status}`)
    throw invalid(`The request_uri answered ${answer.status}. Ask the verifier for a new request.`)
  } catch (error) {
    if (error instanceof ServerDownError || error instanceof NoFreeConnectionError || isOutage(error))
      throw unavailable(requestUri, reasonOf(error), error)
    if (!(error instanceof UnreachableError)) throw error
    throw new OAuthError('invalid_request', `The request_uri cannot be retrieved: ${reasonOf(error)}.`, {
      cause: error,
    })
  }
}

function unavailable(requestUri: string, reason: string, cause?: unknown): Problem {
  return new Problem(
    'error:ServiceUnavailable',
    `The verifier’s server ${new URL(requestUri).host} is not available now: ${reason}. Try again later.`,
    { cause },
  )
}

/**
 * An endpoint of the verifier. Without https, only hosts of private networks are accepted.
 *
 * @throws {OAuthError}
 */
export function checkUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    !url ||
    !['https:', 'http:'].includes(url.protocol) ||
    url.hash !== '' ||
    url.username + url.password !== ''
  )
    throw invalid(`${name} is not an https URL without fragment and user name.`)
  if (url.protocol === 'http:' && isPublicUrl(text)) throw invalid(`${name} must use https.`)
  return url
}

export function invalid(reason: string): OAuthError {
  return new OAuthError('invalid_request', reason)
}

/** A member that must be an object, if it is there. */
export function findObject(parameters: JsonObject, name: string): JsonObject | undefined {
  const value = parameters[name]
  if (value === undefined || isJsonObject(value)) return value
  throw invalid(`${name} is not a JSON object.`)
}
