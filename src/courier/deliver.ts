/** Delivers one event to one webhook: one POST, and a note of what became of it (service §6.3, api.md 6.1). */
import { newId } from '../base/id.ts'
import { across } from '../base/probe.ts'
import { reasonOf } from '../base/reason.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import { logAttempt, type Answer } from '../outbox/delivery.ts'
import type { Event, EventType } from '../outbox/event.ts'
import { failed, delivered, type Delivery } from '../outbox/lane.ts'
import { sign, type Secrets } from '../outbox/signature.ts'
import { findWebhook, globalWebhookId, openHeaders, openSecrets, type WebhookRow } from '../outbox/webhooks.ts'
import type { Wallet } from '../wallet/wallet.ts'

/** How long a receiver has to acknowledge. */
const timeoutMs = 5_000

/** Whether an event was taken; then it is being written down, which the next one need not wait for. */
export type Delivered = { isTaken: boolean; noted?: Promise<void> }

/** Sends an event, and writes down whether it was taken; never throws for what the receiver does. */
export async function deliver(wallet: Wallet, delivery: Delivery): Promise<Delivered> {
  const { webhookId: id, url, headers, secrets, event, kind } = delivery
  const answer = await send(wallet, target(wallet, { id, url, headers, secrets }), event)
  const { error } = answer
  if (error === undefined) {
    // Whoever loses this sends the event again, with the same id.
    return { isTaken: true, noted: wallet.transaction((tx) => delivered(tx, delivery, answer), { canWait: true }) }
  }
  const outcome = await wallet.transaction((tx) => failed(tx, delivery, answer))
  wallet.env.log[outcome === 'given up' ? 'warn' : 'info'](
    { walletId: wallet.id, webhookId: id, eventId: event.id, kind, reason: error, outcome },
    'a webhook was not taken',
  )
  return { isTaken: false }
}

/**
 * Sends a webhook one event that says of itself that it is a test, at once and once, whatever waits in its lane, and returns what came back.
 * The event is in no log, and no other webhook is told of it.
 *
 * @throws {Problem} `NotFound`
 */
export async function deliverTest(wallet: Wallet, webhookId: string, type: EventType): Promise<Answer & { event: Event }> {
  const row = await findWebhook(wallet.db, webhookId)
  const event: Event = { type, id: newId(), ts: new Date().toISOString(), data: { test: true }, walletId: wallet.id }
  const answer = await send(wallet, target(wallet, row), event)
  await wallet.transaction(async (tx) => {
    // Who was deleted while the request was under way has no log any more.
    const known = await tx.selectFrom('webhook').select('id').where('id', '=', webhookId).executeTakeFirst()
    if (known) await logAttempt(tx, { webhookId, event, kind: 'test' }, answer)
  })
  return { ...answer, event }
}

/** Posts an event, and says what came back: without an error when that was a 2xx. */
async function send(wallet: Wallet, { http, url, headers, secrets }: Target, event: Event): Promise<Answer> {
  const attemptedAt = new Date()
  const start = performance.now()
  const answer = (rest: { status?: number; error?: string }) => ({ attemptedAt, durationMs: performance.now() - start, ...rest })
  const body = JSON.stringify(event)
  const own = { 'content-type': 'application/json', ...sign(secrets, { id: event.id, at: attemptedAt, body }) }
  try {
    const { status } = await across('webhook', { walletId: wallet.id, url }, () =>
      http.post(url, { headers: { ...headers, ...own }, body, timeoutMs }),
    )
    return answer({ status, ...((status < 200 || status > 299) && { error: `The receiver answered ${status}.` }) })
  } catch (error) {
    return answer({ error: reasonOf(error) })
  }
}

type Target = { http: HttpClient; url: string; headers: Record<string, string>; secrets: Secrets | undefined }

function target(wallet: Wallet, { id, url, headers, secrets }: Pick<WebhookRow, 'id' | 'url' | 'headers' | 'secrets'>): Target {
  const { config, http, operatorHttp } = wallet.env
  if (id !== globalWebhookId) return { http, url, headers: openHeaders(wallet, id, headers), secrets: openSecrets(wallet, id, secrets) }
  const { GLOBAL_WEBHOOK_URL, GLOBAL_WEBHOOK_API_KEY: bearer } = config
  return {
    http: operatorHttp,
    url: GLOBAL_WEBHOOK_URL ?? '',
    headers: bearer ? { authorization: `Bearer ${bearer.reveal()}` } : {},
    secrets: undefined,
  }
}
