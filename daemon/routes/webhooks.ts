/** `/events/webhooks` (service §4.5, api.md 4.15): who is told of the wallet's events, and (ours) what became of that. */
import { z } from 'zod'
import { deliverTest } from '../../src/events/deliver.ts'
import { listDeliveries, outcomes, WebhookDelivery } from '../../src/events/delivery-log.ts'
import { EventType } from '../../src/events/event.ts'
import { replay, Replay } from '../../src/events/replay.ts'
import { CreateWebhook, NewWebhook, Webhook } from '../../src/events/webhook.ts'
import {
  createWebhook,
  deleteWebhook,
  dropSecrets,
  findWebhook,
  listWebhooks,
  renewSecret,
  toWebhook,
} from '../../src/events/webhooks.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { cut, Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const path = { id: Uuid }

const DeliveryQuery = Paging.omit({ order: true }).extend({
  eventId: Uuid.optional().describe('Only attempts at this event.'),
  outcome: z
    .enum(outcomes)
    .optional()
    .describe(
      '`failed`: every attempt that was not taken; `dead`: the last one at each event that was given up.',
    ),
})

const TestResult = z
  .object({
    eventId: z.uuid(),
    status: z.number().optional().describe('What the receiver answered; absent when it did not.'),
    error: z.string().optional().describe('Why the event was not taken; absent when it was.'),
    durationMs: z.number(),
  })
  .meta({ id: 'WebhookTestResult' })

const NewSecret = z
  .object({
    secret: z.string().describe('Not shown again.'),
    previousUntil: z.iso
      .datetime()
      .optional()
      .describe('Until then the secret before this one signs as well.'),
  })
  .meta({ id: 'WebhookSecret' })

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

  // Ours from here on: the real agent lists and deletes only.
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
    async ({ wallet }, { path: { id } }) => toWebhook(wallet, await findWebhook(wallet.db, id)),
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
      await findWebhook(wallet.db, id)
      await wallet.flush()
      const { deliveries, total } = await listDeliveries(wallet.db, id, query)
      return toPage('WebhookDeliveryPage', { target, total, ...query }, deliveries)
    },
  ),

  route(
    'POST /events/webhooks/{id}/replay',
    {
      summary: 'Send a webhook events again: one, all since an instant, or all that were given up',
      operationId: 'replayWebhook',
      extension: true,
      access: 'tenant',
      scopes: [],
      path,
      body: Replay,
      reply: [
        202,
        z
          .object({ count: z.number().describe('Events that are now to be sent again.') })
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
      summary: 'Send a webhook a test event, and say what came back',
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
      summary: 'Give a webhook a new secret, with which its events are signed',
      operationId: 'createWebhookSecret',
      extension: true,
      access: 'tenant',
      scopes: [],
      path,
      reply: [200, NewSecret],
    },
    ({ wallet, agent }, { path: { id } }) => {
      const until = new Date(Date.now() + agent.config.WEBHOOK_SECRET_OVERLAP * 1_000)
      return wallet.transaction((tx) => renewSecret(tx, wallet, id, until))
    },
  ),

  route(
    'DELETE /events/webhooks/{id}/secret',
    {
      summary: 'Sign the events of a webhook no longer',
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
