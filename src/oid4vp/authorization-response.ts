/** The parameters of an authorization response (OpenID4VP 1.0 §8): plain ones, or encrypted ones. */
import * as z from 'zod'
import { parseJson } from '../base/json.ts'
import { reasonOf } from '../base/reason.ts'
import { maxTokenLength } from '../credentials/jws.ts'
import { OAuthError } from '../oid4vci/oauth-error.ts'
import { readParameters } from '../oid4vci/parameters.ts'
import { digestOf } from '../oid4vci/session.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { RequestRecord } from './authorization-request.ts'
import { decryptResponse } from './encryption.ts'
import { findKey } from './session.ts'

/** The parameters of a response and of an error response (§8.1, §8.5). Others are ignored. */
export const AuthorizationResponse = z
  .object({
    state: z.string().optional(),
    vp_token: z.string().optional(),
    response: z.string().optional().describe('With `direct_post.jwt`: the other parameters, encrypted.'),
    error: z.string().optional(),
    error_description: z.string().optional(),
  })
  .meta({ id: 'OpenId4VpResponse' })
type AuthorizationResponse = z.infer<typeof AuthorizationResponse>

/** Each presentation may cost the resolution of a DID and a status list. */
const mostPresentations = 20

const VpToken = z.record(z.string().max(100), z.array(z.string().max(maxTokenLength)).max(mostPresentations))
export type VpToken = z.infer<typeof VpToken>

/** The parameters of a response. With an encrypted response, `vp_token` is an object (§8.3). */
export type Response = Pick<AuthorizationResponse, 'state' | 'error' | 'error_description'> & {
  vp_token?: unknown
}

const EncryptedResponse = AuthorizationResponse.omit({ response: true }).extend({ vp_token: z.unknown() })

/** @throws {OAuthError} `invalid_request` for another response mode, or another `state` than that of the request */
export async function readResponse(
  wallet: Wallet,
  { id, openid4vp }: RequestRecord,
  form: URLSearchParams,
): Promise<Response> {
  const sent = readParameters(AuthorizationResponse, form)
  const response = await open(wallet, id, openid4vp, sent)
  // Digests of equal length, so that the comparison tells nothing about the expected value.
  if (response.state === undefined || digestOf(response.state) !== digestOf(openid4vp.state))
    throw new OAuthError('invalid_request', 'state is not that of the request.')
  return response
}

/** An error needs no encryption (§8.3.1). */
async function open(
  wallet: Wallet,
  id: string,
  { encryptionKey }: RequestRecord['openid4vp'],
  { response, vp_token: text, ...plain }: AuthorizationResponse,
): Promise<Response> {
  const key = encryptionKey && (await findKey(wallet, id))
  if (!key) return { ...plain, ...(text !== undefined && { vp_token: readJson(text) }) }
  if (response === undefined) {
    if (plain.error !== undefined) return plain
    throw new OAuthError(
      'invalid_request',
      'response is missing: the request asks for an encrypted response.',
    )
  }
  const parsed = EncryptedResponse.safeParse(await decryptResponse(response, encryptionKey, key))
  if (parsed.success) return parsed.data
  throw new OAuthError('invalid_request', 'response contains a state or an error that is not text.')
}

function readJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw new OAuthError('invalid_request', `vp_token ${reasonOf(error)}.`, { cause: error })
  }
}

/** §8.1. @throws {OAuthError} `invalid_request` */
export function readVpToken(vpToken: unknown): VpToken {
  if (vpToken === undefined) throw new OAuthError('invalid_request', 'vp_token is missing.')
  const { success, data } = VpToken.safeParse(vpToken)
  if (!success)
    throw new OAuthError(
      'invalid_request',
      'vp_token is not an object with arrays of presentations as text, or has too many.',
    )
  const count = Object.values(data).flat().length
  if (count <= mostPresentations) return data
  throw new OAuthError(
    'invalid_request',
    `vp_token has ${count} presentations, and ${mostPresentations} are the most.`,
  )
}
