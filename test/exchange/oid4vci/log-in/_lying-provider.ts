/**
 * An OpenID provider that tells the truth until a test has it lie: each part of its answers can be replaced.
 * It logs everybody in as the same person, and is strict about what the client sends.
 */
import { createHash } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { startServer, withBody } from '../../../support/server.ts'
import { issuerClient } from '../_provider.ts'

/** What is replaced. An undefined member of `claims`, `userInfo` or `metadata` is removed. */
export type Lies = {
  metadata?: Record<string, unknown>
  claims?: Record<string, unknown>
  userInfo?: Record<string, unknown>
  /** Parameters of the redirect back. */
  answer?: Record<string, string | undefined>
  /**
   * `none`: not signed. `foreign`: with a key that it does not publish. `other`: a key under the id of
   * another. `RS512`: with an algorithm that the agent does not accept.
   */
  signedBy?: 'none' | 'foreign' | 'other' | 'RS512'
  /** In place of the token response. */
  token?: { status?: number; body?: unknown }
  userInfoStatus?: number
  /** The provider redeems any code, of any request. */
  takesAll?: boolean
  /** Milliseconds before the token response. */
  delayMs?: number
}

export type LyingProvider = Awaited<ReturnType<typeof startLyingProvider>>

/** `host` is how browsers and the agent call this machine. */
export async function startLyingProvider(host = '127.0.0.1') {
  const [own, foreign] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')]
  const rsa = await generateKeyPair('RS512')
  const keys = [
    { ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'ES256' },
    { ...(await exportJWK(rsa.publicKey)), kid: 'RS512' },
  ]
  const state = { lies: {} as Lies, requests: [] as URLSearchParams[] }
  const begun = new Map<string, URLSearchParams>()
  const url = () => `http://${host}:${server.port}`

  const sign = async (nonce: string) => {
    const { claims, signedBy } = state.lies
    const now = Math.floor(Date.now() / 1_000)
    const all = defined({
      iss: url(),
      sub: 'alice',
      aud: issuerClient.clientId,
      iat: now,
      exp: now + 300,
      auth_time: now,
      nonce,
      name: 'Alice Adams',
      ...claims,
    })
    if (signedBy === 'none') return new UnsecuredJWT(all).encode()
    if (signedBy === 'RS512')
      return new SignJWT(all).setProtectedHeader({ alg: 'RS512', kid: 'RS512' }).sign(rsa.privateKey)
    const kid = signedBy === 'foreign' ? 'two' : 'one'
    const { privateKey } = signedBy === undefined ? own : foreign
    return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey)
  }

  const redeem = async (form: URLSearchParams, authorization: string | undefined) => {
    const asked = begun.get(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      asked?.get('code_challenge') === challenge &&
      asked.get('redirect_uri') === form.get('redirect_uri') &&
      (authorization ?? form.get('client_secret') ?? form.get('client_assertion')) !== null
    const { delayMs = 0, token, takesAll } = state.lies
    if (!isRight && takesAll !== true) return { status: 400, body: { error: 'invalid_grant' } }
    begun.delete(form.get('code')!)
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    const id_token = await sign(asked?.get('nonce') ?? '')
    const body = { id_token, access_token: 'an access token', token_type: 'Bearer' }
    return { status: 200, body, ...token }
  }

  const server = await startServer(
    withBody((body, request, response) => {
      const { pathname, searchParams } = new URL(request.url!, url())
      const send = (status: number, value: unknown) => response.writeHead(status).end(JSON.stringify(value))
      if (pathname === '/auth') {
        state.requests.push(searchParams)
        const code = `code-${state.requests.length}`
        begun.set(code, searchParams)
        const answer = defined({
          code,
          state: searchParams.get('state')!,
          iss: url(),
          ...state.lies.answer,
        })
        const location = `${searchParams.get('redirect_uri')}?${new URLSearchParams(answer as Record<string, string>).toString()}`
        response.writeHead(303, { location }).end()
      } else if (pathname === '/token') {
        const form = new URLSearchParams(body)
        state.requests.push(form)
        void redeem(form, request.headers.authorization).then(({ status, body: reply }) =>
          send(status, reply),
        )
      } else if (pathname === '/keys') send(200, { keys })
      else if (pathname === '/me') {
        const isRight = request.headers.authorization === 'Bearer an access token'
        const about = defined({ sub: 'alice', name: 'Alice of UserInfo', ...state.lies.userInfo })
        send(isRight ? (state.lies.userInfoStatus ?? 200) : 401, about)
      } else
        send(
          200,
          defined({
            issuer: url(),
            authorization_endpoint: `${url()}/auth`,
            token_endpoint: `${url()}/token`,
            userinfo_endpoint: `${url()}/me`,
            jwks_uri: `${url()}/keys`,
            authorization_response_iss_parameter_supported: true,
            token_endpoint_auth_methods_supported: ['client_secret_post'],
            ...state.lies.metadata,
          }),
        )
    }),
  )
  return { ...server, url: url(), state }
}

function defined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
