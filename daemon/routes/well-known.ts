/** `/.well-known` (RFC 8615): what others look for without being told where. */
import { JwkSet } from '../../src/enterprise/token.ts'
import { route } from '../http/route.ts'

export default [
  route(
    'GET /.well-known/jwks.json',
    {
      summary: 'Read the keys that verify the tokens of successful challenges',
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
