/** `/.well-known`: resources at well-known URLs (RFC 8615). */
import { JwkSet } from '../../src/enterprise/token.ts'
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
] as const
