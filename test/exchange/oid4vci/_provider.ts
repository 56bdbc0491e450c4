/**
 * The authorization server of others, `oidc-provider`, for an issuer: it passes `issuer_state` of a request
 * on to the access token, as the Cloud Agent's contract says.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
// @ts-expect-error -- the package has no types
import { Provider as UntypedProvider } from 'oidc-provider'
import { ask } from '../../support/ask.ts'
import { newPkce, type Parameters } from './_authorization.ts'

const redirectUri = 'https://wallet.example/cb'
export const issuerClient = { clientId: 'issuer', clientSecret: 'a secret: of the issuer' }

type Provider = {
  callback(): (request: IncomingMessage, response: ServerResponse) => void
  interactionDetails(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<{ params: Record<string, string> }>
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  Grant: new (about: object) => {
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }
}

/**
 * `format`: whether access tokens are JWTs, or opaque and introspected. `audience` replaces the issuer as
 * `aud`. `agentUrl` is asked for nonces.
 */
export type ProviderOptions = { format?: 'jwt' | 'opaque'; audience?: string; agentUrl: string }

export async function startProvider({ format = 'jwt', audience, agentUrl }: ProviderOptions) {
  const states = new Map<string, string>()
  const nonces: unknown[] = []
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' }
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new (UntypedProvider as new (url: string, options: object) => Provider)(url, {
    jwks: { keys: [key] },
    cookies: { keys: ['a key'] },
    clients: [
      {
        client_id: 'wallet',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
      {
        client_id: issuerClient.clientId,
        client_secret: issuerClient.clientSecret,
        redirect_uris: [],
        response_types: [],
        grant_types: [],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    extraParams: ['issuer_state'],
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    async extraTokenClaims(_: unknown, token: { grantId: string }) {
      const issuerState = states.get(token.grantId)
      const reply = await ask({ url: agentUrl }, 'POST /oid4vci/nonces', { body: { issuerState } })
      nonces.push(reply.body)
      return { issuer_state: issuerState }
    },
    interactions: { url: () => '/interaction' },
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: 'Person',
          audience: audience ?? resource,
          accessTokenFormat: format,
          jwt: { sign: { alg: 'ES256' } },
        }),
        useGrantedResource: () => true,
      },
    },
  })
  const answer = provider.callback()
  /** Signs the person in, and lets it consent. */
  const interact = async (request: IncomingMessage, response: ServerResponse) => {
    const { params } = await provider.interactionDetails(request, response)
    const grant = new provider.Grant({ accountId: 'alice', clientId: 'wallet' })
    grant.addResourceScope(params['resource']!, 'Person')
    const grantId = await grant.save()
    states.set(grantId, params['issuer_state']!)
    await provider.interactionFinished(request, response, {
      login: { accountId: 'alice' },
      consent: { grantId },
    })
  }
  server.on('request', (request, response) => {
    if (request.url === '/interaction') void interact(request, response)
    else answer(request, response)
  })
  return {
    url,
    nonces,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An access token of a provider for an offer. */
export async function tokenOf(
  { url }: { url: string },
  { identifier }: { identifier: string },
  issuerState: string,
): Promise<string> {
  const { verifier, challenge } = newPkce()
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'wallet',
    redirect_uri: redirectUri,
    scope: 'Person',
    resource: identifier,
    issuer_state: issuerState,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const cookies = new Map<string, string>()
  let location = `${url}/auth?${query.toString()}`
  while (!location.startsWith(redirectUri)) {
    const cookie = [...cookies].map((each) => each.join('=')).join('; ')
    const response = await fetch(new URL(location, url), { redirect: 'manual', headers: { cookie } })
    for (const each of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(each)!
      cookies.set(name!, value!)
    }
    const next = response.headers.get('location')
    if (next === null) throw new Error(`${location}: ${response.status} ${await response.text()}`)
    location = next
  }
  const form: Parameters = {
    grant_type: 'authorization_code',
    client_id: 'wallet',
    redirect_uri: redirectUri,
    code: new URL(location).searchParams.get('code')!,
    code_verifier: verifier,
    resource: identifier,
  }
  const body = new URLSearchParams(form as Record<string, string>).toString()
  const type = 'application/x-www-form-urlencoded'
  const reply = await ask({ url }, 'POST /token', { body, type })
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
  return reply.body.access_token
}
