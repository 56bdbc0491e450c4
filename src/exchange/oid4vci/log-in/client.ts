/**
 * The requests to an OpenID provider: the redemption of its code (OpenID Connect Core 1.0 §3.1.3), by a
 * client with a secret or a key, and UserInfo (§5.3).
 */
import * as z from 'zod'
import { newId } from '../../../foundation/id.ts'
import { isPassingStatus, readForeign } from '../../../foundation/foreign.ts'
import { isJsonObject, tryParseJson, type JsonObject } from '../../../foundation/json.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { basicOf } from '../../../foundation/oauth/parameters.ts'
import { signWithCertificate } from '../../../wallet/issuer-certificates/signatures.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { ProviderMetadata } from './provider.ts'
import { secretOf, type LogInSettings } from './settings.ts'

const limits = { timeoutMs: 5_000, maxBytes: 262_144 }

const Tokens = z.looseObject({ id_token: z.string(), access_token: z.string().optional() })

/** An issuer’s client at a provider. */
export type Client = { issuerId: string; settings: LogInSettings; metadata: ProviderMetadata }

/** @throws {OAuthError}, {UnreachableError}, {Problem} of the key of the client */
export async function redeemCode(
  wallet: Wallet,
  client: Client,
  redemption: { code: string; redirect_uri: string; code_verifier: string },
): Promise<z.infer<typeof Tokens>> {
  const { parameters, headers } = await authenticate(wallet, client)
  const { status, text } = await wallet.env.http.exchange(client.metadata.token_endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...headers,
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      ...redemption,
      ...parameters,
    }).toString(),
    ...limits,
  })
  const answer = tryParseJson(text)
  const tokens = readForeign(Tokens, answer)
  if (status === 200 && tokens.success) return tokens.data
  const code = isJsonObject(answer) ? answer['error'] : undefined
  const said = typeof code === 'string' && /^[\w-]{1,50}$/.test(code) ? ` (${code})` : ''
  throw refused(`its token endpoint answered ${status}${said}, and not with an ID token`, status)
}

/** The methods of OpenID Connect Core §9 that the provider accepts. */
async function authenticate(
  wallet: Wallet,
  { issuerId, settings: { issuer, clientId, secret, keyId }, metadata }: Client,
): Promise<{ parameters: Record<string, string>; headers?: Record<string, string> }> {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  if (keyId !== undefined) {
    const iat = Math.floor(Date.now() / 1_000)
    const claims = { iss: clientId, sub: clientId, aud: issuer, jti: newId(), iat, exp: iat + 60 }
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    const assertion = await signWithCertificate(wallet, keyId, { typ: 'JWT' }, claims)
    return {
      parameters: { client_id: clientId, client_assertion_type: type, client_assertion: assertion },
    }
  }
  const clientSecret = secretOf(wallet, issuerId, secret!)
  if (methods.includes('client_secret_basic') || !methods.includes('client_secret_post'))
    return { parameters: {}, headers: { authorization: basicOf(clientId, clientSecret) } }
  return { parameters: { client_id: clientId, client_secret: clientSecret } }
}

/**
 * The claims of UserInfo, which must be of the person of the ID token (§5.3.2).
 *
 * @throws {OAuthError}, {UnreachableError}
 */
export async function readUserInfo(
  wallet: Wallet,
  { metadata: { userinfo_endpoint: url } }: Client,
  { accessToken, sub }: { accessToken: string | undefined; sub: string },
): Promise<JsonObject> {
  if (url === undefined || accessToken === undefined) throw refused('it has no UserInfo')
  const { status, text } = await wallet.env.http.exchange(url, {
    method: 'GET',
    headers: { accept: 'application/json', authorization: `Bearer ${accessToken}` },
    ...limits,
  })
  const claims = tryParseJson(text)
  if (status !== 200 || !isJsonObject(claims))
    throw refused(`its UserInfo endpoint answered ${status}, and not with claims in JSON`, status)
  if (claims['sub'] !== sub) throw refused('sub of UserInfo is not that of the ID token')
  return claims
}

/** `reason` continues a sentence about the provider. With `status`, another attempt may succeed. */
export function refused(reason: string, status?: number, cause?: unknown): OAuthError {
  const code = status !== undefined && isPassingStatus(status) ? 'temporarily_unavailable' : 'server_error'
  return new OAuthError(code, `The log-in at the OpenID provider failed: ${reason}.`, { cause })
}
