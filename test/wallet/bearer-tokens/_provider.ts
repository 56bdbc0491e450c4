/**
 * A real OpenID provider, `oidc-provider`, with roles in its access tokens and accounts that sign in by their
 * name.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
// @ts-expect-error -- the package has no types
import { Provider as UntypedProvider } from 'oidc-provider'
import { audience } from './_issuer.ts'

type Provider = { callback(): (request: IncomingMessage, response: ServerResponse) => void; proxy: boolean }

export type RealProvider = Awaited<ReturnType<typeof startRealProvider>>

/** The public client of `agent login`. */
export const loginClient = 'agent-cli'

/** `administrators`: the accounts that have the role admin. `tokenSeconds`: how long access tokens are valid. */
export async function startRealProvider({ administrators = ['root'], tokenSeconds = 600 } = {}) {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const counts = { refreshes: 0, revocations: 0 }
  const store = new Map<string, object>()

  /** A provider with a new key. The state of earlier ones stays. */
  async function build(kid: string): Promise<Provider> {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const key = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid }
    return new (UntypedProvider as new (url: string, options: object) => Provider)(url, {
      ...options({ administrators, tokenSeconds }),
      adapter: adapterOf(store),
      jwks: { keys: [key] },
    })
  }

  let answer = (await build('one')).callback()
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/token/revocation')) counts.revocations++
    if (request.url === '/token' && request.method === 'POST') counts.refreshes++
    answer(request, response)
  })
  return {
    url,
    counts,
    /** Replaces the key. */
    async rotate() {
      answer = (await build('two')).callback()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function options({ administrators, tokenSeconds }: { administrators: string[]; tokenSeconds: number }) {
  return {
    clients: [
      {
        client_id: loginClient,
        application_type: 'native',
        // The port of the redirect is free (RFC 8252 §7.3).
        redirect_uris: ['http://127.0.0.1/signed-in'],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    cookies: { keys: ['a key'] },
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access'],
    ttl: { AccessToken: tokenSeconds },
    rotateRefreshToken: true,
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    extraTokenClaims: (_: unknown, token: { accountId: string }) => ({
      roles: [administrators.includes(token.accountId) ? 'admin' : 'tenant'],
    }),
    features: {
      // Its pages for signing in: any name and password.
      devInteractions: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenTTL: tokenSeconds,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
        useGrantedResource: () => true,
      },
    },
  }
}

type Payload = { uid?: string; userCode?: string; grantId?: string }

/** The store of a provider, which the next one continues. */
function adapterOf(store: Map<string, object>) {
  return class {
    readonly #kind: string
    constructor(kind: string) {
      this.#kind = kind
    }
    #all() {
      return [...store]
        .filter(([key]) => key.startsWith(`${this.#kind}:`))
        .map(([, value]) => value as Payload)
    }
    async upsert(id: string, payload: object) {
      store.set(`${this.#kind}:${id}`, payload)
    }
    async find(id: string) {
      return store.get(`${this.#kind}:${id}`)
    }
    async findByUid(uid: string) {
      return this.#all().find((each) => each.uid === uid)
    }
    async findByUserCode(userCode: string) {
      return this.#all().find((each) => each.userCode === userCode)
    }
    async consume(id: string) {
      Object.assign(store.get(`${this.#kind}:${id}`) ?? {}, { consumed: Math.floor(Date.now() / 1_000) })
    }
    async destroy(id: string) {
      store.delete(`${this.#kind}:${id}`)
    }
    async revokeByGrantId(grantId: string) {
      for (const [key, value] of store) if ((value as Payload).grantId === grantId) store.delete(key)
    }
  }
}
