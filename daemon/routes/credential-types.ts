/** `/credential-types`: the types of credentials that a wallet issues or holds. */
import * as z from 'zod'
import { KnownType, listKnownTypes } from '../../src/exchange/oid4vp/known-types.ts'
import { route } from '../http/route.ts'

const Types = z.object({ contents: z.array(KnownType) }).meta({ id: 'KnownCredentialTypes' })

export default [
  route(
    'GET /credential-types',
    {
      summary: 'List the types of credentials that the wallet issues or holds',
      operationId: 'listCredentialTypes',
      extension: true,
      access: 'tenant',
      reply: [200, Types],
    },
    async ({ wallet, agent: { db } }) => ({ contents: await listKnownTypes(db, wallet) }),
  ),
] as const
