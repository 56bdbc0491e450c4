/** `/connection-invitations`: accepts invitations to connect. */
import { acceptInvitation } from '../../src/exchange/protocols/connection/flow.ts'
import {
  AcceptConnectionInvitation,
  Connection,
  toConnection,
} from '../../src/exchange/protocols/connection/model.ts'
import { route } from '../http/route.ts'

export default [
  route(
    'POST /connection-invitations',
    {
      summary: 'Accept an invitation',
      operationId: 'acceptConnectionInvitation',
      access: 'tenant',
      scopes: ['issuer', 'holder', 'verifier'],
      body: AcceptConnectionInvitation,
      reply: [200, Connection],
    },
    async ({ wallet }, { body }) => toConnection(await acceptInvitation(wallet, body)),
  ),
] as const
