/** Checks that the agent can read the metadata and the keys of the operator's OpenID provider. */
import type { OidcSettings } from '../../foundation/config/oidc.ts'
import { readKeys, reasonOfProvider } from '../../wallet/bearer-tokens/provider.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { isLocalHost } from '../../foundation/net/public-url.ts'
import { serverMetadataUrls } from '../../foundation/oauth/well-known.ts'
import type { Finding } from './check.ts'

export async function checkProvider(
  http: Pick<HttpClient, 'getJson'>,
  { issuer, audience, clientId }: OidcSettings,
): Promise<Finding> {
  const failed = (reason: string): Finding => ({
    status: 'failed',
    detail: `Bearer tokens of ${issuer} cannot be checked: ${reason}.`,
    hint: `curl -i ${serverMetadataUrls(issuer)[1]}   # its issuer must be OIDC_ISSUER (docs/operate/openid-provider.md)`,
  })
  try {
    const { keys } = (await readKeys(http, issuer)).keySet
    if (keys.length === 0) return failed('it publishes no public key')
  } catch (error) {
    return failed(reasonOfProvider(error))
  }
  const { protocol, hostname } = new URL(issuer)
  if (protocol === 'http:' && !isLocalHost(hostname))
    return {
      status: 'warning',
      detail: `The keys of ${issuer} are read without TLS, so that others on the network can replace them.`,
      hint: 'use an https URL of the provider (OIDC_ISSUER)',
    }
  if (audience !== undefined)
    return { status: 'ok', detail: `Bearer tokens of ${issuer} for ${audience} are accepted.` }
  return {
    status: 'warning',
    detail: `Bearer tokens of ${issuer} for the client ${clientId} are accepted, whatever service they are for: OIDC_AUDIENCE is not set.`,
    hint: 'have the provider set an audience, and set OIDC_AUDIENCE',
  }
}
