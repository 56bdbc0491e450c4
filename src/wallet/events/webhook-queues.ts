/**
 * The queues of webhooks in memory: their cursors, and the events that a webhook has not accepted yet. The
 * worker reads the database only for what this process has not written.
 */
import { sql, type Selectable } from 'kysely'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { changeAtCommit, partOf, readWhole, type Part } from '../../foundation/storage/memory.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { noteChange } from '../../foundation/storage/tx-context.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import { isDeliveryEvent } from '../../definitions/event-subjects.ts'

type EventRow = Selectable<WalletTables['event']>

const eventColumns = ['sequence', 'id', 'type', 'subject', 'data', 'ts'] as const

/** `replayed` is the sequence number of the next event of a replay. */
export type QueuedWebhook = Awaited<ReturnType<typeof findWebhooks>>['rows'][number]

/** Events that are remembered. A webhook that is further behind reads the log. */
const maxEvents = 64

/**
 * Events that are read with the one that is due, so that a busy webhook needs one read for several
 * deliveries.
 */
const readAhead = 8

export class WebhookQueues implements Part {
  readonly name = 'webhooks and events'
  #webhooks: readonly QueuedWebhook[] | undefined
  /** The newest events of the log in their order, without gaps. */
  #events: EventRow[] = []
  /** What was read of the log last, by webhook id. */
  readonly #read = new Map<string, readonly EventRow[]>()

  /** All webhooks; undefined until they are read. */
  get webhooks(): readonly QueuedWebhook[] | undefined {
    return this.#webhooks
  }

  remember(webhooks: readonly QueuedWebhook[]): void {
    this.forget()
    this.#webhooks = webhooks
  }

  append(event: EventRow): void {
    const newest = this.#webhooks?.[0]?.newest
    if (!this.#webhooks || newest === undefined) return
    // Sequence numbers have no gaps.
    if (event.sequence !== (newest ?? 0) + 1) return this.forget()
    this.#webhooks = this.#webhooks.map((webhook) => ({ ...webhook, newest: event.sequence }))
    this.#events.push(event)
    if (this.#events.length > maxEvents) this.#events.shift()
  }

  /** The events after a sequence number; undefined if the log has to be read. */
  after(queue: Queue, sequence: number): readonly EventRow[] | undefined {
    for (const events of [this.#events, this.#read.get(queue.webhookId) ?? []]) {
      const found = events.filter((event) => event.sequence > sequence)
      if (found.length > 0 && events[0]!.sequence <= sequence + 1) return found.slice(0, readAtOnce(queue))
    }
    return undefined
  }

  rememberRead(webhookId: string, events: readonly EventRow[]): void {
    this.#read.set(webhookId, events)
  }

  /** The cursor of a webhook has moved. */
  moveCursor(webhookId: string, sequence: number): void {
    const move = (webhook: QueuedWebhook) => ({
      ...webhook,
      cursor: Math.max(webhook.cursor, sequence),
      ...((webhook.retry_to ?? 0) <= sequence && { attempts: 0, retry_to: null }),
    })
    this.#webhooks = this.#webhooks?.map((webhook) =>
      webhook.webhookId === webhookId ? move(webhook) : webhook,
    )
    const left = this.#read.get(webhookId)?.filter((event) => event.sequence > sequence) ?? []
    if (left.length > 0) this.#read.set(webhookId, left)
    else this.#read.delete(webhookId)
    const first = Math.min(...(this.#webhooks ?? []).map(({ cursor }) => cursor))
    this.#events = this.#events.filter((event) => event.sequence > first)
  }

  forget(): void {
    this.#webhooks = undefined
    this.#events = []
    this.#read.clear()
  }

  async compare(db: Db) {
    const events = [...this.#events, ...[...this.#read.values()].flat()]
    const rows = await db
      .selectFrom('event')
      .select(eventColumns)
      .where('sequence', 'in', [0, ...events.map(({ sequence }) => sequence)])
      .execute()
    const webhooks = this.#webhooks && (await findWebhooks(db, {})).rows
    return {
      remembered: [this.#webhooks?.toSorted(byId) ?? null, events],
      stored: [
        webhooks?.toSorted(byId) ?? null,
        events.map((event) => rows.find(({ sequence }) => sequence === event.sequence)),
      ],
    }
  }
}

const byId = (one: QueuedWebhook, other: QueuedWebhook) => (one.webhookId < other.webhookId ? -1 : 1)

/** Notes that webhooks or their replays change with a transaction. */
export function forgetWebhooks(tx: Tx): void {
  changeAtCommit(tx, WebhookQueues, (queues) => queues.forget())
}

/** The same, and the commit notifies the worker of it. */
export function noteWebhooks(tx: Tx): void {
  forgetWebhooks(tx)
  noteChange(tx, 'webhooks')
}

/** All webhooks of a wallet. */
export async function allWebhooks(db: Db): Promise<readonly QueuedWebhook[]> {
  const read = async () => (await findWebhooks(db, {})).rows
  const queues = queuesOf(db)
  return queues?.webhooks ?? readWhole(db, read, (rows) => queues?.remember(rows))
}

type Queue = Pick<QueuedWebhook, 'webhookId' | 'batch' | 'types' | 'deliver'>

/** The number of events that are read at once: at least those of a whole request, more if some are skipped. */
const readAtOnce = ({ batch, types }: Pick<Queue, 'batch' | 'types'>) =>
  Math.max(types === null ? 1 + readAhead : maxEvents, batch ?? 1)

/** Whether a webhook gets the events of a type. */
export function isWanted({ types, deliver }: Pick<Queue, 'types' | 'deliver'>, type: string): boolean {
  if (isDeliveryEvent(type)) return deliver === 1
  return types === null || types.includes(`,${type},`)
}

/** The next events of a webhook's queue after a sequence number, the first one and some that follow. */
export async function nextEvents(db: Db, queue: Queue, sequence: number): Promise<readonly EventRow[]> {
  const read = async () => (await eventsAfter(db, { sequence, limit: readAtOnce(queue) })).rows
  const queues = queuesOf(db)
  const known = queues?.after(queue, sequence)
  return known ?? readWhole(db, read, (rows) => queues?.rememberRead(queue.webhookId, rows))
}

/** A transaction may have written what is not remembered yet. */
function queuesOf(db: Db): WebhookQueues | undefined {
  return db.isTransaction ? undefined : partOf(db, WebhookQueues)
}

/**
 * The webhooks, with the newest event of the log and the oldest one of a replay. Their events are read by
 * statements of their own, because PostgreSQL uses an index for a parameter only: under row-level security, a
 * condition that computes the sequence number would read the whole log.
 */
const findWebhooks = prepared((db: Db) =>
  db
    .selectFrom('webhook')
    .select(['id as webhookId', 'url', 'headers', 'secrets', 'cursor', 'attempts', 'due_at'])
    .select(['batch', 'retry_to', 'types', 'deliver'])
    .select(sql<number | null>`(select max(sequence) from event)`.as('newest'))
    .select(
      sql<number | null>`(select min(event_sequence) from redelivery where webhook_id = webhook.id)`.as(
        'replayed',
      ),
    ),
)

const eventsAfter = prepared((db: Db, { sequence, limit }: { sequence: number; limit: number }) =>
  db
    .selectFrom('event')
    .select(eventColumns)
    .where('sequence', '>', sequence)
    .orderBy('sequence')
    .limit(limit),
)
