/**
 * Authorization requests (OpenID4VP 1.0 §5): their parameters, the URL for the wallet, and the signed Request
 * Object.
 */
import { supportedFormats } from '../../definitions/format-names.ts'
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import type { JsonObject } from '../../foundation/json.ts'
import { Problem } from '../../foundation/problem.ts'
import { encodeParameters, readParameters } from '../../foundation/oauth/parameters.ts'
import { getRecord } from '../engine/find.ts'
import { presentProof, type PresentationRecord } from '../presentation/model.ts'
import type { StoredOpenId4Vp } from '../presentation/openid4vp.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { signRequest } from './client.ts'
import { encryptionMetadata } from './encryption.ts'
import { findSession } from './session.ts'

/** The `aud` of requests to wallets whose metadata is not known (§5.8). */
export const anyWallet = 'https://self-issued.me/v2'

const clientMetadata = {
  vp_formats_supported: supportedFormats(),
}

type Asked = Pick<
  StoredOpenId4Vp,
  'nonce' | 'dcqlQuery' | 'encryptionKey' | 'transactionData' | 'verifierInfo'
>
type Parts = Asked & Pick<StoredOpenId4Vp, 'clientId' | 'responseMode' | 'responseUri' | 'state'>

/** The parameters that do not depend on the way of the response. */
export function askedParameters({
  nonce,
  dcqlQuery,
  encryptionKey,
  transactionData,
  verifierInfo,
}: Asked): JsonObject {
  return {
    response_type: 'vp_token',
    nonce,
    dcql_query: dcqlQuery,
    ...(transactionData && { transaction_data: transactionData }),
    ...(verifierInfo && { verifier_info: verifierInfo }),
    client_metadata: { ...clientMetadata, ...(encryptionKey && encryptionMetadata(encryptionKey)) },
  }
}

/** Requests for the Digital Credentials API have a URL too, for wallets that respond by `direct_post`. */
function parametersOf({ clientId, responseMode, responseUri, state, ...asked }: Parts): JsonObject {
  return {
    ...askedParameters(asked),
    response_mode: responseMode.replace('dc_api', 'direct_post'),
    client_id: clientId,
    response_uri: responseUri,
    state,
  }
}

/** The URL for the wallet: a signed request by reference, an unsigned one by value. */
export function toRequestUrl(parts: Parts & Pick<StoredOpenId4Vp, 'signer'>, requestUri: string): string {
  if (!parts.signer) return `openid4vp://?${encodeParameters(parametersOf(parts))}`
  const reference = encodeParameters({
    client_id: parts.clientId,
    request_uri: requestUri,
    request_uri_method: 'post',
  })
  // A query may contain these characters (RFC 3986 §3.4), and each escaped one makes the QR code larger.
  return `openid4vp://?${reference.replaceAll('%3A', ':').replaceAll('%2F', '/')}`
}

/** The body of a request with `request_uri_method=post` (§5.10). */
export const RequestUriForm = z
  .object({
    wallet_nonce: z.string().max(1_000, 'is longer than 1,000 characters').optional(),
    wallet_metadata: z.string().optional(),
  })
  .meta({ id: 'OpenId4VpRequestUriForm' })

/**
 * The signed Request Object behind a `request_uri`, while the request can be answered. Wallets may retrieve
 * it several times.
 *
 * @throws {Problem} 404; {OAuthError} for a malformed form
 */
export async function readRequestObject(
  wallet: Wallet,
  token: string,
  form = new URLSearchParams(),
): Promise<string> {
  const { wallet_nonce: walletNonce } = readParameters(RequestUriForm, form)
  const { openid4vp } = await getOpenRequest(wallet, token)
  if (!openid4vp.signer || openid4vp.directPost === false) throw requestNotFound()
  const iat = Math.floor(Date.now() / 1_000)
  return signRequest(wallet, openid4vp.signer, {
    ...parametersOf(openid4vp),
    aud: anyWallet,
    iat,
    exp: openid4vp.expiresTime,
    ...(walletNonce !== undefined && { wallet_nonce: walletNonce }),
  })
}

/** A record with a request of OpenID4VP. */
export type RequestRecord = PresentationRecord & { openid4vp: StoredOpenId4Vp }

/** The record of a request's URL. @throws {Problem} 404 */
export async function getRequest(wallet: Wallet, token: string): Promise<RequestRecord> {
  const session = await findSession(wallet.db, token)
  if (!session) throw requestNotFound()
  return (await getRecord(wallet.db, presentProof, session.record_id)) as RequestRecord
}

async function getOpenRequest(wallet: Wallet, token: string): Promise<RequestRecord> {
  const record = await getRequest(wallet, token)
  if (record.state !== 'RequestCreated' || isOver(record.openid4vp.expiresTime * 1_000))
    throw requestNotFound()
  return record
}

export function requestNotFound(): Problem {
  return new Problem(
    'NotFound',
    'There is no such presentation request, or it was answered or has expired. Ask the verifier for a new one.',
  )
}
