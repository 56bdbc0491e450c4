/** The return from the OpenID provider, with all checks of it (OpenID Connect Core 1.0 §3.1.2.5 to §5.3). */
import * as z from 'zod'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { readParameters } from '../../../foundation/oauth/parameters.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { identifierOf, type IssuerRow } from '../issuers.ts'
import { readUserInfo, redeemCode, refused } from './client.ts'
import { verifyIdToken } from './id-token.ts'
import { type Identity, toIdentity, toRefusal } from './identity.ts'
import { getProvider } from './provider.ts'
import { logInOf, redirectUriOf, type LogInSettings } from './settings.ts'
import { beginAgain, openState } from './state.ts'

/** The parameters of the return (RFC 6749 §4.1.2, RFC 9207 §2). */
export const LogInReturn = z.object({
  state: z.string().describe('As the browser took it to the provider.'),
  code: z.string().optional(),
  iss: z.string().optional().describe('The issuer identifier of the provider.'),
  error: z.string().optional(),
  error_description: z.string().optional(),
})
type Returned = z.output<typeof LogInReturn>

/** The request of the wallet, and who has logged in for it, or why nobody has. */
export type Returning = { request: unknown } & ({ identity: Identity } | { refusal: OAuthError })

/** @throws {LostLogIn} if it is not a log-in of this issuer, or not of this browser */
export async function finishLogIn(
  wallet: Wallet,
  issuer: Pick<IssuerRow, 'id' | 'log_in'>,
  { parameters, cookies }: { parameters: URLSearchParams; cookies: string | undefined },
): Promise<Returning> {
  const returned = readReturn(parameters)
  const state = openState(wallet, issuer.id, { sealed: returned.state, cookies })
  const settings = logInOf(issuer)
  if (settings?.issuer !== state.provider) throw beginAgain('the provider has changed')
  try {
    return {
      request: state.request,
      identity: await identify(wallet, issuer.id, settings, { returned, ...state }),
    }
  } catch (error) {
    return { request: state.request, refusal: toRefusal(error) }
  }
}

function readReturn(parameters: URLSearchParams): Returned {
  try {
    return readParameters(LogInReturn, parameters)
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    throw beginAgain(error.message.replace(/\.$/, ''), error)
  }
}

async function identify(
  wallet: Wallet,
  issuerId: string,
  settings: LogInSettings,
  {
    returned: { iss, error, code },
    verifier,
    nonce,
  }: { returned: Returned; verifier: string; nonce: string },
): Promise<Identity> {
  const provider = await getProvider(wallet, settings.issuer)
  const { metadata } = provider
  const isNamed = metadata.authorization_response_iss_parameter_supported === true
  if (isNamed ? iss !== settings.issuer : (iss ?? settings.issuer) !== settings.issuer)
    throw refused('the answer is of another provider (iss)')
  if (error === 'access_denied')
    throw new OAuthError('access_denied', 'The person did not log in at the OpenID provider.')
  if (error !== undefined || code === undefined) throw refused(reasonOf(error), statusOf(error))
  const client = { issuerId, settings, metadata }
  const redirect_uri = redirectUriOf(identifierOf(wallet.env.urls.rest, issuerId))
  const tokens = await redeemCode(wallet, client, { code, redirect_uri, code_verifier: verifier })
  const claims = await verifyIdToken(wallet, provider, settings, { token: tokens.id_token, nonce })
  const { sub } = claims
  const about =
    settings.claimsFrom === 'userinfo'
      ? await readUserInfo(wallet, client, { accessToken: tokens.access_token, sub })
      : claims
  return toIdentity(settings.issuer, claims, about)
}

/** Codes of providers are words. Others are not repeated. */
function reasonOf(error: string | undefined): string {
  if (error === undefined) return 'the browser came back without a code'
  return `it answered ${/^[\w-]{1,50}$/.test(error) ? error : 'with an error'}`
}

const statusOf = (error: string | undefined) => (error === 'temporarily_unavailable' ? 503 : undefined)
