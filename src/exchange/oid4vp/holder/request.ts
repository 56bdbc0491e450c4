/**
 * Checks a request as a wallet (OpenID4VP 1.0 §5, §8.2): for this wallet, valid now, of an authenticated
 * verifier, and possible to answer.
 */
import * as z from 'zod'
import { type Fault, faultsOf, firstFault, quote } from '../../../foundation/faults.ts'
import { isJsonObject } from '../../../foundation/json.ts'
import { oneLine } from '../../../foundation/foreign.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import type { StoredRequest, Step } from '../../presentation/openid4vp-request.ts'
import { digitalModes, directPostModes } from '../../presentation/openid4vp.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { authenticateClient, type AuthenticatedClient } from './client.ts'
import { chooseEncryption } from './encryption.ts'
import { describeQuery, readQuery } from './query.ts'
import { checkUrl, findObject, invalid, readReceivedRequest, type ReceivedRequest } from './request-object.ts'

/** Where an error of the request can be sent: known once the verifier is authenticated. */
export type Target = Pick<StoredRequest, 'responseUri' | 'encryption' | 'state'>

/** A fault of a request that the verifier may be told of. */
export class RequestError extends OAuthError {
  readonly target: Target
  constructor({ code, message }: OAuthError, target: Target) {
    super(code, message)
    this.target = target
  }
}

/** ASCII characters that need no encoding in URLs (§5.2). */
const UrlSafe = z.string().regex(/^[\w.~-]+$/, 'has other characters than letters, digits, -, ., _ and ~')

const anyWallet = 'https://self-issued.me/v2'

const Parameters = z.looseObject({
  client_id: z.string().max(60_100).optional(),
  response_type: z.string(),
  response_mode: z.string(),
  nonce: UrlSafe.max(1_000),
  state: UrlSafe.max(2_000).optional(),
})

const Times = z.object({
  exp: z.number().optional(),
  iat: z.number().optional(),
  nbf: z.number().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
})

/**
 * Retrieves and checks an authorization request.
 *
 * @throws {OAuthError} a `RequestError` if the verifier may be told; {Problem} `error:ServiceUnavailable`
 */
export async function resolveRequest(wallet: Wallet, authorizationRequest: string): Promise<StoredRequest> {
  const steps: Step[] = []
  const note = (step: string, detail: string) => void steps.push({ step, detail: oneLine(detail, 2_000) })
  const received = await readReceivedRequest(wallet, authorizationRequest, note)
  if (received.parameters['client_id'] !== received.clientId)
    throw invalid('The client_id of the Request Object is not that of the URL.')
  const client = await authenticateClient(wallet, received.clientId, received.jws, note)
  checkFreshness(wallet, received)
  const responseUri = readResponseUri(received, client)
  note('response_uri', `${responseUri.href} may be used by the client id`)
  const { parameters } = received
  const state = UrlSafe.max(2_000).safeParse(parameters['state']).data
  const target = { responseUri: responseUri.href, ...(state !== undefined && { state }) }
  try {
    const checked = checkParameters(received)
    note('query', describeQuery(checked.dcqlQuery))
    return { ...checked, ...target, ...describeVerifier(received, client, responseUri.host), steps }
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    throw new RequestError(error, { ...target, ...findEncryption(received) })
  }
}

/** A signed request is for this wallet, and valid now. */
export function checkFreshness(
  { env }: Wallet,
  { parameters, jws, walletNonce, requestUri }: ReceivedRequest,
): void {
  if (walletNonce !== undefined && parameters['wallet_nonce'] !== walletNonce)
    throw invalid('The Request Object has another wallet_nonce than this wallet sent: it may be an old one.')
  if (!jws) return
  const { data: claims, error } = Times.safeParse(parameters)
  if (error) throw invalid(`The Request Object: ${firstFault(error)}.`)
  const { exp, iat, nbf, aud } = claims
  // §5.8 requires the first. Verifiers that name their own request_uri bind the object to this request as
  // well.
  if (aud !== undefined && ![aud].flat().some((each) => each === anyWallet || each === requestUri))
    throw invalid(`The aud of the Request Object is neither ${anyWallet} nor its request_uri.`)
  const now = Date.now() / 1_000
  const leeway = env.config.PRESENTATION_LEEWAY
  if (exp !== undefined && exp + leeway <= now) throw invalid('The Request Object has expired.')
  if ([iat, nbf].some((time) => time !== undefined && time - leeway > now))
    throw invalid('The Request Object is dated in the future.')
}

/** The `response_uri`, which must be one that the client id permits. */
function readResponseUri({ parameters }: ReceivedRequest, client: AuthenticatedClient): URL {
  const given = parameters['response_uri'] ?? client.responseUri
  if (typeof given !== 'string') throw invalid('response_uri is missing.')
  const url = checkUrl('response_uri', given)
  if (client.responseUri !== undefined && given !== client.responseUri)
    throw invalid('response_uri is not the URL in the client id.')
  if (client.responseHost !== undefined && url.hostname.toLowerCase() !== client.responseHost.toLowerCase())
    throw invalid('response_uri is of another host than the client id.')
  return url
}

export function checkParameters(
  received: ReceivedRequest,
): Pick<StoredRequest, 'responseMode' | 'nonce' | 'dcqlQuery' | 'encryption' | 'expiresTime'> {
  const { parameters, jws, origin } = received
  if (origin === undefined && parameters['redirect_uri'] !== undefined)
    throw invalid('redirect_uri must not be there with direct_post (§8.2).')
  const { success, data, error } = Parameters.safeParse(parameters)
  if (!success) {
    const [{ path, message }] = faultsOf(error, 1) as [Fault]
    throw invalid(`${path.join('.')} ${message}.`)
  }
  if (data.response_type !== 'vp_token')
    throw new OAuthError(
      'unsupported_response_type',
      `response_type is ${quote(data.response_type)}, not vp_token.`,
    )
  const modes = origin === undefined ? directPostModes : digitalModes
  const responseMode = modes.find((mode) => mode === data.response_mode)
  if (!responseMode)
    throw invalid(`response_mode is ${quote(data.response_mode)}, none of ${modes.join(', ')}.`)
  refuseUnsupported(parameters)
  const dcqlQuery = readQuery(received, data.state)
  const encryption = responseMode.endsWith('.jwt') ? chooseEncryption(metadataOf(received)) : undefined
  const expiresTime = jws ? Times.parse(parameters).exp : undefined
  return {
    responseMode,
    nonce: data.nonce,
    dcqlQuery,
    ...(encryption && { encryption }),
    ...(expiresTime !== undefined && { expiresTime }),
  }
}

/** Parameters that must not be ignored: the answer would not be the requested one. */
function refuseUnsupported(parameters: ReceivedRequest['parameters']): void {
  if (parameters['transaction_data'] !== undefined)
    throw new OAuthError(
      'invalid_transaction_data',
      'transaction_data has a type that is not supported: this wallet knows none.',
    )
  for (const old of ['presentation_definition', 'presentation_definition_uri'])
    if (parameters[old] !== undefined)
      throw invalid(`${old} is of an earlier draft: OpenID4VP 1.0 has dcql_query.`)
  if (parameters['scope'] !== undefined)
    throw new OAuthError('invalid_scope', 'scope is not supported: send a dcql_query.')
}

function metadataOf({ parameters }: ReceivedRequest) {
  return findObject(parameters, 'client_metadata') ?? {}
}

/** The key for an error response. Errors may be sent without encryption (§8.3.1). */
function findEncryption(received: ReceivedRequest): Pick<Target, 'encryption'> {
  try {
    const isEncrypted = received.parameters['response_mode'] === 'direct_post.jwt'
    return isEncrypted ? { encryption: chooseEncryption(metadataOf(received)) } : {}
  } catch (error) {
    if (error instanceof OAuthError) return {}
    throw error
  }
}

/**
 * What the record shows of the verifier. The name that it gives itself is for people, and cannot stop a
 * request.
 */
export function describeVerifier(
  { clientId, parameters: { client_metadata: metadata } }: ReceivedRequest,
  { responseHost: _host, responseUri: _uri, ...about }: AuthenticatedClient,
  responseHost: string,
): Pick<StoredRequest, 'clientId' | 'verifier'> {
  const given = isJsonObject(metadata) ? metadata['client_name'] : undefined
  const name = typeof given === 'string' ? oneLine(given, 200) : ''
  return { clientId, verifier: { ...about, ...(name !== '' && { name }), responseHost } }
}
