/** The parameters of an authorization response (OpenID4VP 1.0 §8): plain ones, or encrypted ones. */
import * as z from 'zod'
import { parseJson } from '../../foundation/json.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { maxTokenLength } from '../../credentials/codecs/jws.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { readParameters } from '../../foundation/oauth/parameters.ts'
import { digestOf } from '../../foundation/oauth/secrets.ts'
import type { Wallet } from '../../wallet/wallet.ts'
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
const maxPresentations = 20

const VpToken = z.record(z.string().max(100), z.array(z.string().max(maxTokenLength)).max(maxPresentations))
export type VpToken = z.infer<typeof VpToken>

/** The parameters of a response. With an encrypted response, `vp_token` is an object (§8.3). */
export type Response = Pick<AuthorizationResponse, 'state' | 'error' | 'error_description'> & {
  vp_token?: unknown
}

const EncryptedResponse = AuthorizationResponse.omit({ response: true }).extend({
  vp_token: z.unknown().optional(),
})

/**
 * The parameters of a form.
 *
 * @throws {OAuthError} `invalid_request` for another response mode, or another `state` than that of the
 * request
 */
export async function readResponse(
  wallet: Wallet,
  record: RequestRecord,
  form: URLSearchParams,
): Promise<Response> {
  const { vp_token: text, ...others } = readParameters(AuthorizationResponse, form)
  const sent = { ...others, ...(text !== undefined && { vp_token: readJson(text) }) }
  const response = await openResponse(wallet, record, sent)
  // Digests of equal length, so that the comparison tells nothing about the expected value.
  if (response.state === undefined || digestOf(response.state) !== digestOf(record.openid4vp.state))
    throw new OAuthError('invalid_request', 'state is not that of the request.')
  return response
}

/**
 * Decrypts a response if the request has asked for that. An error needs no encryption (§8.3.1).
 *
 * @throws {OAuthError} `invalid_request`
 */
export async function openResponse(
  wallet: Wallet,
  { id, openid4vp: { encryptionKey } }: RequestRecord,
  { response, ...plain }: Response & { response?: string | undefined },
): Promise<Response> {
  const key = encryptionKey && (await findKey(wallet, id))
  if (!key) return plain
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
  if (count <= maxPresentations) return data
  throw new OAuthError(
    'invalid_request',
    `vp_token has ${count} presentations, and ${maxPresentations} are the most.`,
  )
}
