/** Delivers events to a webhook: one POST, and a log entry for each event with its outcome. */
import type { Config } from '../../foundation/config/config.ts'
import { newId } from '../../foundation/id.ts'
import type { Log } from '../../foundation/log.ts'
import type { Metrics } from '../../foundation/metrics.ts'
import { across } from '../../foundation/probe.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { activeSpan, causeOf, inSpan, type SpanStart } from '../../foundation/spans.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { storeOutcome } from '../../foundation/storage/outcome.ts'
import type { WriteOptions } from '../../foundation/storage/writer.ts'
import { confirm, confirmAll, fail, type Acceptance, type Delivery } from './deliveries.ts'
import { logAttempt, type Answer } from './delivery-log.ts'
import type { Event, EventText, EventType } from './event.ts'
import { toReceived } from './secret-events.ts'
import { sign, type Secrets } from './signature.ts'
import {
  getWebhook,
  globalWebhookId,
  openHeaders,
  openSecrets,
  type Sealer,
  type WebhookRow,
} from './webhooks.ts'

/** How long a receiver has to answer. */
const timeoutMs = 5_000

/** The parts of a wallet that a delivery needs. */
type DeliveringWallet = Sealer & {
  unseal(context: string, sealed: string): string
  readonly id: string
  readonly db: Db
  readonly env: {
    readonly config: Config
    readonly log: Log
    readonly metrics: Metrics
    readonly http: HttpClient
    readonly operatorHttp: HttpClient
  }
  transaction<T>(write: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
}

/**
 * `stored` resolves when the acceptance of a request is committed; the next one need not wait for that. It
 * rejects with an {UnstoredError} if the acceptance cannot be stored now.
 */
export type Delivered = { isAccepted: boolean; stored?: Promise<void> }

/**
 * Makes a request and logs the outcome. Failures of the receiver do not throw.
 *
 * @throws {UnstoredError} if the failure cannot be stored now
 */
export function deliver(wallet: DeliveringWallet, delivery: Delivery): Promise<Delivered> {
  return inSpan(
    () => deliverySpan(delivery),
    () => attempt(wallet, delivery),
  )
}

/** Its parent is the span that caused the first event, if that was in this process. */
const deliverySpan = ({ events: [{ event }, ...more], kind, attempts }: Delivery): SpanStart => ({
  name: `webhook ${event.type}`,
  kind: 'producer',
  parent: causeOf(event.id),
  attributes: {
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.system': 'webhook',
    'messaging.message.id': event.id,
    ...(more.length > 0 && { 'messaging.batch.message_count': 1 + more.length }),
    'identity_agent.webhook.kind': kind,
    ...(attempts > 0 && { 'identity_agent.job.attempt': attempts + 1 }),
  },
})

async function attempt(wallet: DeliveringWallet, delivery: Delivery): Promise<Delivered> {
  const { webhookId: id, kind } = delivery
  const events = await toReceived(wallet, delivery)
  const answer = await send(wallet, target(wallet, { ...delivery, id }), events)
  const { error } = answer
  const { metrics } = wallet.env
  if (error === undefined) {
    metrics.add('agent_webhook_deliveries_total', { kind, outcome: 'delivered' }, events.length)
    if (kind === 'automatic')
      for (const { ts } of events)
        metrics.observe('agent_webhook_delivery_latency_seconds', {}, secondsSince(ts))
    // If a crash loses this write, the events are sent again, with the same ids.
    return { isAccepted: true, stored: storeAcceptance(wallet, { delivery, answer }) }
  }
  activeSpan()?.fail(answer.status === undefined ? 'unreachable' : String(answer.status))
  await storeOutcome(wallet, async (opened) => {
    const outcome = await opened.transaction((tx) => fail(tx, delivery, answer))
    activeSpan()?.event(outcome)
    metrics.add('agent_webhook_deliveries_total', { kind, outcome: failedOutcomes[outcome] }, events.length)
    wallet.env.log[outcome === 'dead letter' ? 'warn' : 'info'](
      {
        walletId: wallet.id,
        webhookId: id,
        eventId: events[0]!.id,
        kind,
        reason: error,
        outcome,
      },
      'a webhook did not accept an event',
    )
  })
  return { isAccepted: false }
}

/** The acceptances of a wallet, by its database, that one write is about to store. */
const batches = new WeakMap<Db, { acceptances: Acceptance[]; stored: Promise<void> }>()

/**
 * Stores an acceptance. Those of deliveries that are not replays share a write, and resolve with it.
 *
 * @throws {UnstoredError} if they cannot be stored now
 */
function storeAcceptance(wallet: DeliveringWallet, acceptance: Acceptance): Promise<void> {
  const { delivery, answer } = acceptance
  if (delivery.kind === 'replay')
    return storeOutcome(wallet, (opened) =>
      opened.transaction((tx) => confirm(tx, delivery, answer), { canWait: true }),
    )
  const open = batches.get(wallet.db)
  if (open) {
    open.acceptances.push(acceptance)
    return open.stored
  }
  const acceptances = [acceptance]
  const close = () => void (batches.get(wallet.db)?.acceptances === acceptances && batches.delete(wallet.db))
  const stored = storeOutcome(wallet, (opened) =>
    opened.transaction(
      (tx) => {
        close()
        return confirmAll(tx, acceptances)
      },
      { canWait: true, isLast: true },
    ),
  )
  stored.catch(close)
  batches.set(wallet.db, { acceptances, stored })
  return stored
}

const failedOutcomes = { retry: 'retried', 'dead letter': 'dead_letter' } as const

/** Not less than 0, if the clock was set back. */
function secondsSince(instant: string): number {
  return Math.max(0, Date.now() - Date.parse(instant)) / 1_000
}

/**
 * Sends a test event to a webhook, at once and once, ahead of its queue, and returns the answer.
 * The event is not in the log, and no other webhook gets it.
 *
 * @throws {Problem} `NotFound`
 */
export async function deliverTest(
  wallet: DeliveringWallet,
  webhookId: string,
  type: EventType,
): Promise<Answer & { event: Event }> {
  const row = await getWebhook(wallet.db, webhookId)
  const event: Event = {
    type,
    id: newId(),
    ts: new Date().toISOString(),
    data: { test: true },
    walletId: wallet.id,
  }
  const answer = await send(wallet, target(wallet, row), [{ ...event, text: JSON.stringify(event) }])
  await wallet.transaction(async (tx) => {
    // A webhook that was deleted during the request has no delivery log.
    const known = await tx.selectFrom('webhook').select('id').where('id', '=', webhookId).executeTakeFirst()
    if (known) await logAttempt(tx, { webhookId, event, kind: 'test' }, answer)
  })
  return { ...answer, event }
}

/**
 * Posts one event, or for a webhook with a `batch` an array of events. The answer has no `error` when the
 * status was 2xx.
 */
async function send(
  wallet: DeliveringWallet,
  { http, url, headers, secrets, batch }: Target,
  events: readonly EventText[],
): Promise<Answer> {
  const [first] = events
  const body = batch === null ? first!.text : `[${events.map(({ text }) => text).join(',')}]`
  // A request that is made again has the same events, and so the same id.
  const id = events.length === 1 ? first!.id : `${first!.id}-${events.length}`
  const attemptedAt = new Date()
  const start = performance.now()
  const answer = (rest: { status?: number; error?: string }) => ({
    attemptedAt,
    durationMs: performance.now() - start,
    ...rest,
  })
  const fixed = {
    'content-type': 'application/json',
    ...sign(secrets, { id, at: attemptedAt, body }),
  }
  try {
    const { status } = await across('webhook', { walletId: wallet.id, url }, () =>
      http.post(url, {
        purpose: 'webhook',
        headers: { ...headers, ...fixed },
        body,
        timeoutMs,
        sendsTrace: true,
      }),
    )
    return answer({
      status,
      ...((status < 200 || status > 299) && { error: `The receiver answered ${status}.` }),
    })
  } catch (error) {
    return answer({ error: reasonOf(error) })
  }
}

type Target = {
  http: HttpClient
  url: string
  headers: Record<string, string>
  secrets: Secrets | undefined
  batch: number | null
}

function target(
  wallet: DeliveringWallet,
  { id, url, headers, secrets, batch }: Pick<WebhookRow, 'id' | 'url' | 'headers' | 'secrets' | 'batch'>,
): Target {
  const { config, http, operatorHttp } = wallet.env
  if (id !== globalWebhookId)
    return {
      http,
      url,
      headers: openHeaders(wallet, id, headers),
      secrets: openSecrets(wallet, id, secrets),
      batch,
    }
  const { GLOBAL_WEBHOOK_URL, GLOBAL_WEBHOOK_API_KEY: bearer } = config
  return {
    http: operatorHttp,
    url: GLOBAL_WEBHOOK_URL ?? '',
    headers: bearer ? { authorization: `Bearer ${bearer.reveal()}` } : {},
    secrets: undefined,
    batch,
  }
}
