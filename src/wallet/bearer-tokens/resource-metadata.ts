/** The agent as a protected resource of OAuth (RFC 9728): by it, clients find the OpenID provider. */
import * as z from 'zod'
import type { OidcSettings } from '../../foundation/config/oidc.ts'
import { allScopes } from '../model.ts'

export const ResourceMetadata = z
  .object({
    resource: z.url().describe('Base URL of the API.'),
    authorization_servers: z.array(z.url()).describe('The issuer of the accepted bearer tokens.'),
    bearer_methods_supported: z.array(z.literal('header')),
    scopes_supported: z.array(z.string()).optional().describe('The scopes that limit tokens.'),
    audience: z.string().optional().describe('`aud` of the accepted tokens.'),
    login_client_id: z.string().optional().describe('Public client for `agent login`.'),
  })
  .meta({ id: 'ProtectedResourceMetadata' })
export type ResourceMetadata = z.infer<typeof ResourceMetadata>

/** `url` is the public base URL of the API. */
export function toResourceMetadata(settings: OidcSettings, url: string): ResourceMetadata {
  const { issuer, audience, loginClientId, scopeClaim } = settings
  return {
    resource: url,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    ...(scopeClaim && { scopes_supported: [...allScopes, 'all'] }),
    ...(audience !== undefined && { audience }),
    ...(loginClientId !== undefined && { login_client_id: loginClientId }),
  }
}
