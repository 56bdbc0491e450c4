/**
 * Signs in at an OpenID provider with `openid-client`: by the device authorization grant (RFC 8628), or by
 * the authorization code with PKCE and a redirect to this machine (RFC 8252 §7.3). A bundle of its own, which
 * `agent login`, `agent logout` and a refresh load.
 */
import * as oidc from 'openid-client'
import { CommandError } from '../errors/errors.ts'
import { safeLine } from '../format/text.ts'
import { openRedirect } from '../redirect.ts'
import type { Login } from './store.ts'

/** A client of the provider. It is public: it has no secret. */
export type Client = { issuer: string; clientId: string }

export type Tokens = Pick<Login, 'accessToken' | 'refreshToken' | 'expiresAt'>

type Asked = { scope: string; resource: string | undefined }

/** `show` gets the address that the person opens, and the code to enter there. */
export type Show = (address: string, code?: string) => void

/** @throws {CommandError} with the reason of the provider */
export function signInByDevice(client: Client, asked: Asked, show: Show): Promise<Tokens> {
  return explain(client, async () => {
    const config = await discover(client)
    if (config.serverMetadata().device_authorization_endpoint === undefined)
      throw new CommandError(
        `The provider ${client.issuer} has no device authorization. Sign in with a browser on this machine.`,
        1,
        'agent login',
      )
    const device = await oidc.initiateDeviceAuthorization(config, parametersOf(asked))
    show(device.verification_uri_complete ?? device.verification_uri, device.user_code)
    return toTokens(await oidc.pollDeviceAuthorizationGrant(config, device, resourceOf(asked)))
  })
}

/** @throws {CommandError} with the reason of the provider, or when nobody signs in within five minutes */
export function signInByBrowser(client: Client, asked: Asked, show: Show): Promise<Tokens> {
  return explain(client, async () => {
    const config = await discover(client)
    const [verifier, state] = [oidc.randomPKCECodeVerifier(), oidc.randomState()]
    await using receiver = await openRedirect({
      path: '/signed-in',
      timeoutMs: 300_000,
      says: { accepted: 'You are signed in.', refused: 'You are not signed in.' },
      late: new CommandError('Timed out: nobody has signed in.', 6, 'agent login'),
    })
    const receiving = receiver.receive(state)
    const address = oidc.buildAuthorizationUrl(config, {
      ...parametersOf(asked),
      redirect_uri: receiver.url,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      // OpenID Connect Core §11 requires it for tokens that outlive the session.
      ...(asked.scope.split(' ').includes('offline_access') && { prompt: 'consent' }),
    })
    show(address.href)
    const checks = { pkceCodeVerifier: verifier, expectedState: state }
    const redirected = await receiving
    return toTokens(await oidc.authorizationCodeGrant(config, redirected, checks, resourceOf(asked)))
  })
}

/** @throws {CommandError} 4 when the login has ended */
export function refresh(client: Client, refreshToken: string): Promise<Tokens> {
  return explain(client, async () => {
    const tokens = toTokens(await oidc.refreshTokenGrant(await discover(client), refreshToken))
    return { refreshToken, ...tokens }
  })
}

/**
 * Revokes the refresh token, and with it the others (RFC 7009 §2.1), or else the access token. Returns false
 * if the provider does not offer that. @throws {CommandError}
 */
export function revoke(client: Client, { refreshToken, accessToken }: Tokens): Promise<boolean> {
  return explain(client, async () => {
    const config = await discover(client)
    if (config.serverMetadata().revocation_endpoint === undefined) return false
    await oidc.tokenRevocation(config, refreshToken ?? accessToken)
    return true
  })
}

function discover({ issuer, clientId }: Client): Promise<oidc.Configuration> {
  const url = new URL(issuer)
  // The operator of the agent has chosen an issuer without TLS, such as one on this machine.
  const execute = url.protocol === 'http:' ? [oidc.allowInsecureRequests] : []
  return oidc.discovery(url, clientId, undefined, oidc.None(), { execute })
}

function parametersOf({ scope, ...asked }: Asked): Record<string, string> {
  return { scope, ...resourceOf(asked) }
}

/** Providers with resource indicators (RFC 8707) issue a token for the agent then. */
function resourceOf({ resource }: Pick<Asked, 'resource'>): Record<string, string> {
  return resource === undefined ? {} : { resource }
}

function toTokens(response: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers): Tokens {
  const seconds = response.expiresIn()
  return {
    accessToken: response.access_token,
    ...(response.refresh_token !== undefined && { refreshToken: response.refresh_token }),
    ...(seconds !== undefined && { expiresAt: Math.floor(Date.now() / 1_000) + seconds }),
  }
}

/** Turns errors of the library into sentences. */
async function explain<T>({ issuer }: Client, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommandError) throw error
    const { error: code, error_description: description } = error as {
      error?: string
      error_description?: string
    }
    if (code === 'access_denied')
      throw new CommandError('The sign-in was declined at the provider.', 4, 'agent login')
    if (code === 'expired_token') throw new CommandError('Timed out: nobody has signed in.', 6, 'agent login')
    if (code === 'invalid_grant')
      throw new CommandError('The sign-in has ended: the provider does not renew it.', 4, 'agent login')
    const reason = code === undefined ? reasonOf(error) : [code, description].filter(Boolean).join(': ')
    throw new CommandError(`The OpenID provider ${issuer} could not be used: ${safeLine(reason)}.`, 1)
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  const inner = cause instanceof Error ? cause.message : ''
  return inner === '' ? message : `${message} (${inner})`
}
