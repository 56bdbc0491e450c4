/** The pane of webhooks and their deliveries. */
import type { Style } from '../../format/colour.ts'
import { shortId } from '../../format/text.ts'
import { ago, duration } from '../../format/time.ts'
import { removeWebhook, webhookActions } from '../actions/webhook.ts'
import type { Data, Delivery, Webhook } from '../data/data.ts'
import { timeOf, type Pane, type Piece } from './pane.ts'

export const webhooks: Pane<Webhook> = {
  name: 'webhooks',
  title: 'Webhooks',
  short: 'Hooks',
  items: (data) => data.webhooks,
  id: ({ id }) => id,
  columns: [
    { head: 'url', width: 'rest', of: ({ url }) => url },
    { head: 'signed', width: 6, of: ({ signed }) => (signed ? 'yes' : 'no'), from: 100 },
    { head: 'failed', width: 6, of: ({ id }, data) => failedCell(deliveriesOf(id, data)) },
    { head: 'last delivery', width: 13, of: ({ id }, data) => lastCell(deliveriesOf(id, data)[0]?.[0]) },
    {
      head: 'at',
      width: 10,
      isSteady: true,
      of: ({ id }, data, now) => ({ text: lastAt(deliveriesOf(id, data)[0]?.[0], now), style: 'faint' }),
      from: 55,
    },
  ],
  text: ({ id, url }) => `${id} ${url}`,
  sections: (item, { data }) => [
    {
      lines: [
        ['webhook', item.id],
        ['url', item.url],
        ['headers', Object.keys(item.customHeaders).join(' ') || undefined],
        ['signed', item.signed ? 'yes' : 'no'],
        ['events', item.types?.join(', ')],
        ['events a request', item.batch === undefined ? undefined : `up to ${item.batch}`],
        ['created', item.createdAt],
      ],
    },
    { head: 'deliveries, newest first', lines: deliveriesOf(item.id, data).map(deliveryLine) },
  ],
  actions: webhookActions,
  remove: removeWebhook,
  empty: 'There are no webhooks. n adds one.',
}

/** The state of a delivery: `retrying` has attempts left. The daemon says `failed` and `dead` of attempts. */
type State = 'delivered' | 'retrying' | 'failed'

const styles: Readonly<Record<State, Style>> = { delivered: 'good', retrying: 'waiting', failed: 'bad' }

function stateOf({ outcome, kind }: Delivery): State {
  if (outcome === 'delivered') return 'delivered'
  return outcome === 'failed' && kind !== 'test' ? 'retrying' : 'failed'
}

/** Returns the attempts of a webhook by their events, newest first. */
function deliveriesOf(id: string, { deliveries }: Data): (readonly Delivery[])[] {
  const attempts = deliveries[id] ?? []
  const events = new Set(attempts.map(({ eventId }) => eventId))
  return [...events].map((event) => attempts.filter(({ eventId }) => eventId === event))
}

function failedCell(deliveries: readonly (readonly Delivery[])[]): Piece {
  const failed = deliveries.filter(([last]) => last && stateOf(last) === 'failed').length
  return { text: String(failed), style: failed === 0 ? 'faint' : 'bad' }
}

function lastCell(last: Delivery | undefined): Piece {
  if (!last) return { text: 'none yet', style: 'faint' }
  const state = stateOf(last)
  return { text: state, style: styles[state] }
}

function lastAt(last: Delivery | undefined, now: number): string {
  return last ? ago(last.attemptedAt, now) : ''
}

/** The daemon tries again after this time, in milliseconds. */
const attemptSpacingMs = 5_000

/** Formats a delivery: its last attempt, the number of attempts, and when the next one is. */
function deliveryLine([last, ...before]: readonly Delivery[]): Piece {
  const { attemptedAt, status, error, durationMs, type, kind, eventId } = last!
  const state = stateOf(last!)
  const next = new Date(Date.parse(attemptedAt) + attemptSpacingMs).toISOString()
  const parts = [
    timeOf(attemptedAt),
    state.padEnd(9),
    error ?? String(status),
    before.length === 0 ? '1 attempt' : `${before.length + 1} attempts`,
    state === 'retrying' ? `next at ${timeOf(next)}` : duration(durationMs),
    kind === 'automatic' ? type : `${type} (${kind})`,
    shortId(eventId),
  ]
  return { text: parts.join('  '), style: styles[state] }
}
