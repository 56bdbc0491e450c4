/** A provider that signs any token with any key, for attacks that a real provider does not allow. */
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { startServer } from '../../support/server.ts'

export const audience = 'https://agent.example'

export type Issuer = Awaited<ReturnType<typeof startIssuer>>

/** `state`: the documents of the provider, and how often each was read. */
export async function startIssuer() {
  const keys: JWK[] = []
  const state = { keys, issuer: '', reads: 0, isAway: false }
  const server = await startServer((request, response) => {
    if (state.isAway) {
      response.statusCode = 503
      return response.end()
    }
    const { url } = server
    const metadata = { issuer: state.issuer || url, jwks_uri: `${url}/keys` }
    if (request.url === '/keys') state.reads++
    return response.end(JSON.stringify(request.url === '/keys' ? { keys } : metadata))
  })

  /** Publishes a new key instead of the others, and returns what signs with it. */
  async function rotate(kid: string, alg = 'ES256') {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    keys.splice(0, keys.length, { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' })
    return { kid, alg, privateKey, publicKey }
  }

  const first = await rotate('one')
  const now = () => Math.floor(Date.now() / 1_000)

  /** A valid token of a tenant, but for the given claims and header members. `undefined` removes one. */
  function sign(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}, key = first) {
    const standard = { iss: server.url, aud: audience, sub: 'alice', roles: ['tenant'], client_id: 'app' }
    const all = { ...standard, iat: now(), exp: now() + 600, ...claims }
    const protectedHeader = { alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header }
    return new SignJWT(JSON.parse(JSON.stringify(all)) as Record<string, unknown>)
      .setProtectedHeader(JSON.parse(JSON.stringify(protectedHeader)) as { alg: string })
      .sign(key.privateKey, header['crit'] === undefined ? {} : { crit: { x: true } })
  }

  return { ...server, state, first, rotate, sign, now }
}

/** The variables of an agent that accepts the tokens of an issuer. */
export const accepting = ({ url }: { url: string }) => ({ OIDC_ISSUER: url, OIDC_AUDIENCE: audience })

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
