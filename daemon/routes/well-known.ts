/** `/.well-known`: resources at well-known URLs (RFC 8615). */
import { Problem } from '../../src/foundation/problem.ts'
import { ResourceMetadata, toResourceMetadata } from '../../src/wallet/bearer-tokens/resource-metadata.ts'
import { JwkSet } from '../../src/exchange/enterprise/token.ts'
import { route } from '../http/route.ts'

export default [
  route(
    'GET /.well-known/jwks.json',
    {
      summary: 'Read the public keys of sign-in tokens',
      operationId: 'getTokenKeys',
      extension: true,
      access: 'public',
      media: ['application/json'],
      reply: [200, JwkSet],
    },
    async ({ agent }) => ({
      type: 'application/json' as const,
      body: await agent.enterprise.signInTokens.keys(),
      headers: { 'Cache-Control': 'public, max-age=300' },
    }),
  ),

  route(
    'GET /.well-known/oauth-protected-resource',
    {
      summary: 'Read which OpenID provider issues the accepted bearer tokens (RFC 9728)',
      operationId: 'getProtectedResourceMetadata',
      extension: true,
      access: 'public',
      reply: [200, ResourceMetadata],
    },
    async ({ agent: { bearerTokens, env } }) => {
      if (bearerTokens) return toResourceMetadata(bearerTokens.settings, env.urls.rest)
      throw new Problem(
        'NotFound',
        'This agent accepts no bearer tokens: it has no OpenID provider (OIDC_ISSUER).',
      )
    },
  ),
] as const
