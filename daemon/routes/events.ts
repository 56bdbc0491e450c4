/** `/events/webhooks` (service §4.5, api.md 4.15): who is told of the wallet's events. */
import { Problem } from '../../src/base/problem.ts'
import { createWebhook, CreateWebhook, deleteWebhook, listWebhooks, Webhook } from '../../src/outbox/webhooks.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { cut, Page, Paging, toPage } from '../page.ts'
import { route } from '../route.ts'

export default [
  route(
    'GET /events/webhooks',
    {
      summary: 'List webhooks',
      access: 'tenant',
      query: Paging,
      reply: [200, Page('WebhookNotificationPage', Webhook, 'WebhookNotificationPage')],
    },
    async ({ wallet }, { query, target }) => {
      const webhooks = await listWebhooks(wallet.db, wallet)
      return toPage('WebhookNotificationPage', { target, total: webhooks.length, ...query }, cut(webhooks, query))
    },
  ),

  route(
    'POST /events/webhooks',
    {
      summary: 'Register a webhook',
      access: 'tenant',
      body: CreateWebhook,
      reply: [200, Webhook],
    },
    ({ wallet, agent }, { body }) => wallet.transaction((tx) => createWebhook(tx, wallet, body, agent.config.WEBHOOKS_PER_WALLET)),
  ),

  // Ours: the real agent lists and deletes only.
  route(
    'GET /events/webhooks/{id}',
    {
      summary: 'Read a webhook',
      access: 'tenant',
      path: { id: Uuid },
      reply: [200, Webhook],
    },
    async ({ wallet }, { path: { id } }) => {
      const webhook = (await listWebhooks(wallet.db, wallet)).find((known) => known.id === id)
      if (!webhook) throw new Problem('NotFound', `There is no webhook ${id}.`)
      return webhook
    },
  ),

  route(
    'DELETE /events/webhooks/{id}',
    {
      summary: 'Delete a webhook',
      access: 'tenant',
      path: { id: Uuid },
      reply: [200, null],
    },
    ({ wallet }, { path: { id } }) => wallet.transaction((tx) => deleteWebhook(tx, id)),
  ),
] as const
