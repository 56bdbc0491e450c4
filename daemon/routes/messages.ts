/** `/messages`: basic messages (DIDComm Basic Message 2.0). */
import * as z from 'zod'
import { listMessages, sendMessage } from '../../src/exchange/protocols/basic-message/flow.ts'
import { Message, SendMessage, toMessage } from '../../src/exchange/protocols/basic-message/model.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const MessagesPage = Page('Collection', Message, 'BasicMessagesPage')
const query = Paging.extend({
  connectionId: z.guid().optional().describe('Only the messages over this connection.'),
})

export default [
  route(
    'GET /messages',
    {
      summary: 'List the messages, sent and received',
      operationId: 'listMessages',
      extension: true,
      access: 'tenant',
      query,
      reply: [200, MessagesPage],
    },
    async ({ wallet }, { query, target }) => {
      const { rows, total } = await listMessages(wallet.db, query)
      return toPage('Collection', { ...query, target, total }, rows.map(toMessage))
    },
  ),

  route(
    'POST /messages',
    {
      summary: 'Send a message over a connection',
      operationId: 'sendMessage',
      extension: true,
      access: 'tenant',
      scopes: ['issuer', 'holder', 'verifier'],
      body: SendMessage,
      reply: [201, Message],
    },
    async ({ wallet }, { body }) => toMessage(await sendMessage(wallet, body)),
  ),
] as const
