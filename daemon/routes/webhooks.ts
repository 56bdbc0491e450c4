/** `/events/webhooks`: webhooks and their delivery attempts. */
import * as z from 'zod'
import { deliverTest } from '../../src/wallet/events/deliver.ts'
import { listDeliveries, outcomes, WebhookDelivery } from '../../src/wallet/events/delivery-log.ts'
import { EventType } from '../../src/wallet/events/event.ts'
import { replay, Replay } from '../../src/wallet/events/replay.ts'
import { RenewedSecret } from '../../src/wallet/events/signature.ts'
import { CreateWebhook, NewWebhook, Webhook } from '../../src/wallet/events/webhook.ts'
import {
  createWebhook,
  deleteWebhook,
  dropSecrets,
  getWebhook,
  listWebhooks,
  renewSecret,
  toWebhook,
} from '../../src/wallet/events/webhooks.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { cut, Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const path = { id: Uuid }

const DeliveryQuery = Paging.omit({ order: true }).extend({
  eventId: Uuid.optional().describe('Only attempts to deliver this event.'),
  outcome: z
    .enum(outcomes)
    .optional()
    .describe('`failed`: all failed attempts; `dead`: the last attempt of each abandoned event.'),
})

const TestResult = z
  .object({
    eventId: z.uuid(),
    status: z
      .number()
      .optional()
      .describe('The status that the receiver replied with. Absent without a reply.'),
    error: z.string().optional().describe('The reason of the failure. Absent when the event was accepted.'),
    durationMs: z.number(),
  })
  .meta({ id: 'WebhookTestResult' })

export default [
  route(
    'GET /events/webhooks',
    {
      summary: 'List webhooks',
      operationId: 'getEventsWebhooks',
      access: 'tenant',
      query: Paging,
      reply: [200, Page('WebhookNotificationPage', Webhook, 'WebhookNotificationPage')],
    },
    async ({ wallet }, { query, target }) => {
      const webhooks = await listWebhooks(wallet.db, wallet)
      return toPage(
        'WebhookNotificationPage',
        { target, total: webhooks.length, ...query },
        cut(webhooks, query),
      )
    },
  ),

  route(
    'POST /events/webhooks',
    {
      summary: 'Register a webhook',
      operationId: 'postEventsWebhooks',
      access: 'tenant',
      scopes: [],
      body: CreateWebhook,
      reply: [200, NewWebhook],
    },
    ({ wallet, agent }, { body }) =>
      wallet.transaction((tx) => createWebhook(tx, wallet, body, agent.config.WEBHOOKS_PER_WALLET)),
  ),

  // The following routes are extensions: the Cloud Agent can only list, register and delete webhooks.
  route(
    'GET /events/webhooks/{id}',
    {
      summary: 'Read a webhook',
      operationId: 'getWebhook',
      extension: true,
      access: 'tenant',
      path,
      reply: [200, Webhook],
    },
    async ({ wallet }, { path: { id } }) => toWebhook(wallet, await getWebhook(wallet.db, id)),
  ),

  route(
    'DELETE /events/webhooks/{id}',
    {
      summary: 'Delete a webhook',
      operationId: 'deleteEventsWebhooksId',
      access: 'tenant',
      scopes: [],
      path,
      reply: [200, null],
    },
    ({ wallet }, { path: { id } }) => wallet.transaction((tx) => deleteWebhook(tx, id)),
  ),

  route(
    'GET /events/webhooks/{id}/deliveries',
    {
      summary: 'List the attempts to deliver events to a webhook, newest first',
      operationId: 'listWebhookDeliveries',
      extension: true,
      access: 'tenant',
      path,
      query: DeliveryQuery,
      reply: [200, Page('WebhookDeliveryPage', WebhookDelivery, 'WebhookDeliveryPage')],
    },
    async ({ wallet }, { path: { id }, query, target }) => {
      await getWebhook(wallet.db, id)
      await wallet.flush()
      const { deliveries, total } = await listDeliveries(wallet.db, id, query)
      return toPage('WebhookDeliveryPage', { target, total, ...query }, deliveries)
    },
  ),

  route(
    'POST /events/webhooks/{id}/replay',
    {
      summary: 'Deliver events to a webhook again: one, all since a time, or all abandoned ones',
      operationId: 'replayWebhook',
      extension: true,
      access: 'tenant',
      scopes: [],
      path,
      body: Replay,
      reply: [
        202,
        z
          .object({ count: z.number().describe('The number of events that are delivered again.') })
          .meta({ id: 'WebhookReplay' }),
      ],
    },
    async ({ wallet }, { path: { id }, body }) => ({
      count: await wallet.transaction((tx) => replay(tx, id, body)),
    }),
  ),

  route(
    'POST /events/webhooks/{id}/test',
    {
      summary: 'Send a test event to a webhook and return the reply',
      operationId: 'testWebhook',
      extension: true,
      access: 'tenant',
      scopes: [],
      path,
      body: z.object({ type: EventType.default('ConnectionUpdated') }).meta({ id: 'WebhookTestRequest' }),
      reply: [200, TestResult],
    },
    async ({ wallet }, { path: { id }, body: { type } }) => {
      const { event, status, error, durationMs } = await deliverTest(wallet, id, type)
      return {
        eventId: event.id,
        durationMs: Math.round(durationMs),
        ...(status && { status }),
        ...(error && { error }),
      }
    },
  ),

  route(
    'POST /events/webhooks/{id}/secret',
    {
      summary: 'Create a new secret that signs the events of a webhook',
      operationId: 'createWebhookSecret',
      extension: true,
      access: 'tenant',
      scopes: [],
      path,
      reply: [200, RenewedSecret],
    },
    ({ wallet, agent }, { path: { id } }) => {
      const until = new Date(Date.now() + agent.config.WEBHOOK_SECRET_OVERLAP * 1_000)
      return wallet.transaction((tx) => renewSecret(tx, wallet, id, until))
    },
  ),

  route(
    'DELETE /events/webhooks/{id}/secret',
    {
      summary: 'Stop signing the events of a webhook',
      operationId: 'deleteWebhookSecret',
      extension: true,
      access: 'tenant',
      scopes: [],
      path,
      reply: [200, null],
    },
    ({ wallet }, { path: { id } }) => wallet.transaction((tx) => dropSecrets(tx, id)),
  ),
] as const
