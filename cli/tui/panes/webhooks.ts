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
  items: (data) => data.webhooks,
  id: ({ id }) => id,
  columns: [
    { head: 'url', width: 'rest', of: ({ url }) => url },
    { head: 'signed', width: 6, of: ({ signed }) => (signed ? 'yes' : 'no'), from: 100 },
    { head: 'dead', width: 4, of: ({ id }, data) => deadCell(deliveriesOf(id, data)) },
    { head: 'last attempt', width: 12, of: ({ id }, data) => outcomeCell(deliveriesOf(id, data)[0]) },
    {
      head: 'at',
      width: 10,
      of: ({ id }, data, now) => ({ text: lastAt(deliveriesOf(id, data)[0], now), style: 'faint' }),
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
        ['created', item.createdAt],
      ],
    },
    { head: 'attempts, newest first', lines: deliveriesOf(item.id, data).map(attemptLine) },
  ],
  actions: webhookActions,
  remove: removeWebhook,
  empty: 'There are no webhooks. n adds one.',
}

const styles: Readonly<Record<Delivery['outcome'], Style>> = {
  delivered: 'good',
  failed: 'waiting',
  dead: 'bad',
}

export function deliveriesOf(id: string, { deliveries }: Data): readonly Delivery[] {
  return deliveries[id] ?? []
}

function deadCell(deliveries: readonly Delivery[]): Piece {
  const dead = deliveries.filter(({ outcome }) => outcome === 'dead').length
  return { text: String(dead), style: dead === 0 ? 'faint' : 'bad' }
}

function outcomeCell(last: Delivery | undefined): Piece {
  return last ? { text: last.outcome, style: styles[last.outcome] } : { text: 'none yet', style: 'faint' }
}

function lastAt(last: Delivery | undefined, now: number): string {
  return last ? ago(last.attemptedAt, now) : ''
}

function attemptLine({
  attemptedAt,
  outcome,
  type,
  kind,
  status,
  error,
  durationMs,
  eventId,
}: Delivery): Piece {
  const what = kind === 'automatic' ? type : `${type} (${kind})`
  const line = [
    timeOf(attemptedAt),
    outcome.padEnd(9),
    error ?? String(status),
    duration(durationMs),
    what,
    shortId(eventId),
  ]
  return { text: line.join('  '), style: styles[outcome] }
}
