/** An external authorization server that signs any access token, and says anything of opaque ones. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { startServer } from '../../support/server.ts'

export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>

/** An authorization server: it signs any token, and says of opaque ones what `introspected` is. */
export async function startAuthorizationServer() {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }]
  const state = { introspected: {}, issuer: '' }
  const server = await startServer((incoming, response) => {
    const { url } = server
    const metadata = {
      issuer: state.issuer || url,
      jwks_uri: `${url}/keys`,
      introspection_endpoint: `${url}/introspect`,
    }
    const documents: Record<string, object> = { '/keys': { keys }, '/introspect': state.introspected }
    response.end(JSON.stringify(documents[incoming.url!] ?? metadata))
  })
  const sign = (claims: Record<string, unknown>, header: object = {}) =>
    new SignJWT({ iss: server.url, exp: Math.floor(Date.now() / 1_000) + 600, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt', ...header })
      .sign(privateKey)
  return { ...server, state, sign }
}
