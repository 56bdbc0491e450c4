/** `/events`: the event log of the wallet, in pages or as a live stream. */
import * as z from 'zod'
import { newId } from '../../src/foundation/id.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { streamEvents, subscribeToEvents } from '../../src/wallet/events/stream.ts'
import {
  Event,
  EventType,
  eventsAfter,
  eventsFrom,
  findEvent,
  lastSequence,
  appendEvent,
  type EventFilter,
} from '../../src/wallet/events/event.ts'
import type { Db } from '../../src/foundation/storage/database.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { toFrame, toPreamble, toStream } from '../http/event-stream.ts'
import type { Admin, Subject, Tenant } from '../middleware/access.ts'
import { onlyWallet } from '../middleware/bearer.ts'
import { Page, Paging, toPageAfter } from '../http/paging.ts'
import { route } from '../http/route.ts'

/** The cursor before the first event. */
const nilId = '00000000-0000-0000-0000-000000000000'

const heartbeatMs = 15_000

const After = z.uuid().describe(`Only events after the one with this id. ${nilId} returns all events.`)
const Following = After.describe(
  'Only events that follow the one with this id in the order of the list: newer ones, or with `desc` older ones.',
)

const Filter = z.object({
  type: EventType.optional().describe('Only events of this type.'),
  thid: z.string().min(1).max(2_000).optional().describe('Only events of this thread or DID.'),
  walletId: Uuid.optional().describe('The wallet, for the administrator. Tenants get their own events.'),
})

const EventPage = Page('EventPage', Event, 'EventPage')

export default [
  route(
    'GET /events',
    {
      summary: 'List events, oldest first',
      operationId: 'listEvents',
      extension: true,
      access: 'admin-or-tenant',
      query: Filter.extend({ after: Following.optional(), ...Paging.shape }),
      reply: [200, EventPage],
    },
    async ({ wallets, caller }, { query, target }) => {
      const walletId = walletOf(caller, query.walletId) ?? mustNameWallet()
      const { after, limit, offset, order } = query
      const found = await wallets.use(walletId, async ({ db }) => {
        const sequence = after === undefined ? undefined : await placeOf(db, walletId, after)
        // One event more than the page shows whether there is a next page.
        return eventsFrom(db, walletId, { sequence, offset, order, limit: limit + 1 }, toFilter(query))
      })
      const contents = found.slice(0, limit).map(({ event }) => event)
      return toPageAfter(
        'EventPage',
        { target, after: found.length > limit ? contents.at(-1)!.id : undefined },
        contents,
      )
    },
  ),

  route(
    'GET /events/stream',
    {
      summary: 'Follow events as they happen, as server-sent events',
      operationId: 'streamEvents',
      extension: true,
      access: 'admin-or-tenant',
      query: Filter.extend({ after: After.optional() }),
      headers: z.object({
        'last-event-id': After.optional().describe(
          'As `after`. Event source clients send it when they reconnect.',
        ),
      }),
      reply: [
        200,
        z.string().meta({
          description:
            'Each event with its id (absent in the stream of all wallets), its type, and the envelope as data.',
        }),
      ],
      media: ['text/event-stream'],
    },
    async ({ wallets, caller, agent }, { query, headers, isStillAllowed }) => {
      const walletId = walletOf(caller, query.walletId)
      const wanted = headers['last-event-id'] ?? query.after
      if (wanted !== undefined && walletId === undefined) mustNameWallet()
      const subscription = subscribeToEvents(agent.notifier, walletId)
      try {
        const since = newId()
        const start =
          walletId === undefined
            ? undefined
            : await wallets.use(walletId, ({ db }) => startAt(db, walletId, wanted))
        const after = new Map(walletId !== undefined && start ? [[walletId, start.sequence]] : [])
        const events = streamEvents(wallets, subscription, {
          after,
          since,
          filter: toFilter(query),
          heartbeatMs,
          isAllowed: isStillAllowed,
        })
        return {
          type: 'text/event-stream' as const,
          headers: { ...(start && { 'Last-Event-ID': start.id }), 'X-Accel-Buffering': 'no' },
          body: toStream(toTexts(events, start?.id), subscription.signal, () => subscription.close()),
        }
      } catch (error) {
        subscription.close()
        throw error
      }
    },
  ),

  route(
    'POST /events/test',
    {
      summary: 'Create a test event, which is delivered like any other',
      operationId: 'createTestEvent',
      extension: true,
      access: 'tenant',
      scopes: ['issuer', 'holder', 'verifier'],
      body: z.object({ type: EventType }).meta({ id: 'CreateTestEvent' }),
      reply: [201, Event],
    },
    ({ wallet }, { body: { type } }) =>
      wallet.transaction(async (tx) => {
        const id = await appendEvent(tx, { type, subject: newId(), data: { test: true } })
        return (await findEvent(tx, wallet.id, id))!.event
      }),
  ),

  route(
    'GET /events/{id}',
    {
      summary: 'Read an event',
      operationId: 'getEvent',
      extension: true,
      access: 'admin-or-tenant',
      path: { id: Uuid },
      query: Filter.pick({ walletId: true }),
      reply: [200, Event],
    },
    async ({ wallets, caller }, { path: { id }, query }) => {
      const walletId = walletOf(caller, query.walletId) ?? mustNameWallet()
      const found = await wallets.use(walletId, ({ db }) => findEvent(db, walletId, id))
      if (!found)
        throw new Problem(
          'NotFound',
          `There is no event ${id}, or none any more: events are kept for EVENT_RETENTION.`,
        )
      return found.event
    },
  ),
] as const

/**
 * The wallet of a request; undefined when the administrator names none. Wallets of other tenants do not exist
 * for a tenant.
 */
function walletOf(caller: Admin | Tenant | Subject, wanted: string | undefined): string | undefined {
  if (caller.kind === 'admin') return wanted
  if (caller.kind === 'subject' && wanted === undefined) return onlyWallet(caller)
  const own = caller.kind === 'subject' ? caller.walletIds : [caller.walletId]
  if (wanted === undefined || own.includes(wanted)) return wanted ?? own[0]
  throw new Problem('error:WalletManagementServiceError:WalletNotFound', `There is no wallet ${wanted}.`)
}

function mustNameWallet(): never {
  throw new Problem(
    'BadRequest',
    'The query is not valid. walletId: it is missing. The administrator must name a wallet; only the live stream covers all wallets.',
  )
}

function toFilter({ type, thid }: { type?: EventType | undefined; thid?: string | undefined }): EventFilter {
  return { type, subject: thid }
}

/** The sequence number of an event. @throws {Problem} `BadRequest` when the log does not have it. */
async function placeOf(db: Db, walletId: string, id: string): Promise<number> {
  if (id === nilId) return 0
  const known = await findEvent(db, walletId, id)
  if (known) return known.sequence
  throw new Problem(
    'BadRequest',
    `after: there is no event ${id} in the log. It is too old (EVENT_RETENTION) or another wallet’s; leave it out, or begin with ${nilId}.`,
  )
}

/** The cursor at which a stream begins: after the named event, or now. */
async function startAt(
  db: Db,
  walletId: string,
  wanted: string | undefined,
): Promise<{ sequence: number; id: string }> {
  if (wanted !== undefined) return { sequence: await placeOf(db, walletId, wanted), id: wanted }
  const sequence = await lastSequence(db)
  const [last] = await eventsAfter(db, walletId, sequence - 1, 1)
  return { sequence, id: last?.event.id ?? nilId }
}

async function* toTexts(
  events: AsyncIterable<Event | undefined>,
  lastEventId: string | undefined,
): AsyncGenerator<string, void> {
  yield toPreamble(lastEventId)
  for await (const event of events) yield toFrame(event, lastEventId !== undefined)
}
