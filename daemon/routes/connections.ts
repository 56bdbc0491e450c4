/** `/connections`: DIDComm connections, and invitations to connect. */
import * as z from 'zod'
import { createInvitation, updateConnection } from '../../src/exchange/protocols/connection/flow.ts'
import { removeConnection } from '../../src/exchange/remove-connection.ts'
import {
  Connection,
  connection,
  CreateConnection,
  toConnection,
  UpdateConnection,
} from '../../src/exchange/protocols/connection/model.ts'
import { getRecord, listRecords } from '../../src/exchange/engine/find.ts'
import { IdempotencyHeader } from '../../src/exchange/engine/idempotency.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const ConnectionsPage = Page('Collection', Connection, 'ConnectionsPage')

/** The query of lists whose records belong to DIDComm threads. */
export const RecordPaging = Paging.extend({
  thid: z.string().optional().describe('Only the record of this DIDComm thread.'),
  role: z.string().optional().describe('Only records in which this wallet has this role (extension).'),
  state: z
    .string()
    .optional()
    .describe('Only records in this state, or one of these, with commas (extension).'),
})

export default [
  route(
    'POST /connections',
    {
      summary: 'Create an invitation',
      operationId: 'createConnection',
      access: 'tenant',
      scopes: ['issuer', 'holder', 'verifier'],
      headers: IdempotencyHeader,
      body: CreateConnection,
      reply: [201, Connection],
    },
    async ({ wallet }, { headers, body }) =>
      toConnection(await createInvitation(wallet, body, headers['idempotency-key'])),
  ),

  route(
    'GET /connections',
    {
      summary: 'List the connections',
      operationId: 'getConnections',
      access: 'tenant',
      query: RecordPaging,
      reply: [200, ConnectionsPage],
    },
    async ({ wallet }, { query, target }) => {
      const { records, total } = await listRecords(wallet.db, connection, query)
      return toPage('Collection', { ...query, target, total }, records.map(toConnection), '/collections')
    },
  ),

  route(
    'GET /connections/{connectionId}',
    {
      summary: 'Read a connection',
      operationId: 'getConnection',
      access: 'tenant',
      path: { connectionId: Uuid },
      reply: [200, Connection],
    },
    async ({ wallet }, { path }) => toConnection(await getRecord(wallet.db, connection, path.connectionId)),
  ),

  route(
    'PATCH /connections/{connectionId}',
    {
      summary: 'Change the label of a connection, and which of its offers are accepted automatically',
      operationId: 'updateConnection',
      extension: true,
      access: 'tenant',
      scopes: ['issuer', 'holder', 'verifier'],
      path: { connectionId: Uuid },
      body: UpdateConnection,
      reply: [200, Connection],
    },
    async ({ wallet }, { path, body }) =>
      toConnection(await updateConnection(wallet, path.connectionId, body)),
  ),

  route(
    'DELETE /connections/{connectionId}',
    {
      summary: 'Delete a connection, or withdraw an unanswered invitation',
      operationId: 'deleteConnection',
      access: 'tenant',
      scopes: ['issuer', 'holder', 'verifier'],
      path: { connectionId: Uuid },
      reply: [204, null],
    },
    ({ wallet }, { path }) => removeConnection(wallet, path.connectionId),
  ),
] as const
