/**
 * The begin of a log-in: sends the browser on to the OpenID provider of the issuer, by the code flow with
 * PKCE, `state` and `nonce` (OpenID Connect Core 1.0 §3.1.2, RFC 9700 §2.1.1).
 */
import { withParameters } from '../../../foundation/oauth/parameters.ts'
import { digestOf, newSecret } from '../../../foundation/oauth/secrets.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { identifierOf, type IssuerRow } from '../issuers.ts'
import { toRefusal } from './identity.ts'
import { getProvider } from './provider.ts'
import { redirectUriOf, type LogInSettings } from './settings.ts'
import { sealState, toCookie } from './state.ts'

/** Where the browser goes, and the cookie that it gets (`Set-Cookie`). */
export type Departure = { redirect: string; cookie: string }

/**
 * `request` is the checked request of the wallet, which `finishLogIn` returns. Writes nothing.
 *
 * @throws {OAuthError} that the wallet may be told
 */
export async function beginLogIn(
  wallet: Wallet,
  { id }: Pick<IssuerRow, 'id'>,
  settings: LogInSettings,
  { request, cookies }: { request: unknown; cookies: string | undefined },
): Promise<Departure> {
  const { issuer: provider, clientId, scope, acrValues, maxAge } = settings
  const { metadata } = await getProvider(wallet, provider).catch((error: unknown) => {
    throw toRefusal(error)
  })
  const [verifier, nonce, cookie] = [newSecret(), newSecret(), toCookie(wallet, cookies)]
  const browser = digestOf(cookie.secret)
  const redirect = withParameters(metadata.authorization_endpoint, {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUriOf(identifierOf(wallet.env.urls.rest, id)),
    scope,
    state: sealState(wallet, id, { request, provider, verifier, nonce, browser }),
    nonce,
    code_challenge: digestOf(verifier),
    code_challenge_method: 'S256',
    acr_values: acrValues?.join(' '),
    max_age: maxAge?.toString(),
  })
  return { redirect, cookie: cookie.header }
}
