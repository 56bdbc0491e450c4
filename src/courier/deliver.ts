/** Delivers one event to one webhook: one POST, and a note of what became of it (service §6.3, api.md 6.1). */
import { reasonOf } from '../base/reason.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import { failed, delivered, type Delivery } from '../outbox/lane.ts'
import { globalWebhookId, openHeaders } from '../outbox/webhooks.ts'
import type { Wallet } from '../wallet/wallet.ts'

/** How long a receiver has to acknowledge. */
const timeoutMs = 5_000

/** Sends an event and writes down whether it was taken; never throws for what the receiver does. */
export async function deliver(wallet: Wallet, delivery: Delivery): Promise<void> {
  const error = await send(wallet, delivery)
  if (error === undefined) {
    await wallet.transaction((tx) => delivered(tx, delivery))
    return
  }
  const outcome = await wallet.transaction((tx) => failed(tx, delivery, error))
  wallet.env.log[outcome === 'given up' ? 'warn' : 'info'](
    { walletId: wallet.id, webhookId: delivery.webhookId, eventId: delivery.event.id, error, outcome },
    'a webhook was not taken',
  )
}

/** Undefined when a 2xx came back, otherwise why not. */
async function send(wallet: Wallet, delivery: Delivery): Promise<string | undefined> {
  const { http, url, headers } = target(wallet, delivery)
  try {
    const { status } = await http.post(url, {
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(delivery.event),
      timeoutMs,
    })
    return status >= 200 && status < 300 ? undefined : `The receiver answered ${status}.`
  } catch (error) {
    return reasonOf(error)
  }
}

type Target = { http: HttpClient; url: string; headers: Record<string, string> }

function target(wallet: Wallet, { webhookId, url, headers }: Delivery): Target {
  const { config, http, operatorHttp } = wallet.env
  if (webhookId !== globalWebhookId) return { http, url, headers: openHeaders(wallet, webhookId, headers) }
  const { GLOBAL_WEBHOOK_URL, GLOBAL_WEBHOOK_API_KEY: bearer } = config
  return { http: operatorHttp, url: GLOBAL_WEBHOOK_URL ?? '', headers: bearer ? { authorization: `Bearer ${bearer.reveal()}` } : {} }
}
