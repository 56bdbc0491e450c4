/** `oidc-provider` as the identity provider of an issuer: it logs everybody in as the account that is chosen. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
// @ts-expect-error -- the package has no types
import { Provider as UntypedProvider } from 'oidc-provider'
import { issuerClient } from '../_provider.ts'

type Interaction = { prompt: { name: string }; params: { scope: string; client_id: string } }
type Provider = {
  callback(): (request: IncomingMessage, response: ServerResponse) => void
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  Grant: new (about: object) => { addOIDCScope(scope: string): void; save(): Promise<string> }
}

const accounts: Record<string, object> = {
  alice: { name: 'Alice Adams', email: 'alice@example.org', department: 'Sales' },
  mallory: { name: 'Mallory', email: 'alice@example.org', email_verified: false, department: 'None' },
  verbose: { name: 'V'.repeat(15_000), department: 'All' },
  bob: { name: 'Bob Brown', email: 'bob@example.org', department: 'Tests' },
}

export type RealProvider = Awaited<ReturnType<typeof startIdentityProvider>>

/** `method` is how the client authenticates itself; `keys` are those of `private_key_jwt`. */
export async function startIdentityProvider({
  redirectUris,
  method = 'client_secret_basic',
  keys = [],
}: {
  redirectUris: string[]
  method?: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'
  keys?: JWK[]
}) {
  const state = { account: 'alice' as string | undefined, acr: undefined as string | undefined }
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
        client_id: issuerClient.clientId,
        redirect_uris: redirectUris,
        token_endpoint_auth_method: method,
        ...(method === 'private_key_jwt'
          ? { jwks: { keys }, token_endpoint_auth_signing_alg: 'ES256' }
          : { client_secret: issuerClient.clientSecret }),
        grant_types: ['authorization_code'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientAuthMethods: [method],
    acrValues: ['urn:low', 'urn:high'],
    claims: { profile: ['name'], email: ['email', 'email_verified'], staff: ['department'] },
    scopes: ['openid', 'profile', 'email', 'staff'],
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...(accounts[accountId] ?? { name: `Person ${accountId}` }) }),
    }),
    interactions: { url: () => '/interaction' },
    features: { devInteractions: { enabled: false } },
  })
  const answer = provider.callback()
  const interact = async (request: IncomingMessage, response: ServerResponse) => {
    const { prompt, params } = await provider.interactionDetails(request, response)
    const { account: accountId, acr } = state
    if (accountId === undefined)
      return provider.interactionFinished(request, response, { error: 'access_denied' })
    if (prompt.name === 'login')
      return provider.interactionFinished(request, response, { login: { accountId, ...(acr && { acr }) } })
    const grant = new provider.Grant({ accountId, clientId: params.client_id })
    grant.addOIDCScope(params.scope)
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
  }
  server.on('request', (request, response) => {
    if (request.url === '/interaction') void interact(request, response)
    else answer(request, response)
  })
  return {
    url,
    state,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
