/** Everything that the dashboard shows, asked for anew. */
import type { Daemon } from '../daemon.ts'
import { mostEvents, type Data, type Delivery, type Event, type Webhook } from './data.ts'
import { newest } from './newest.ts'

/** Pages of the log of events that are read, to find its newest ones: the API has no way from the end. */
const mostPages = 10
const pageSize = 1_000

/** How many attempts at a webhook are shown. */
const mostDeliveries = 50

type Loaded = Omit<Data, 'link'>

/** Asks for all lists. @throws {ProblemError} @throws {DaemonUnreachable} */
export async function load({ call }: Daemon): Promise<Loaded> {
  const [connections, credentials, proofs, dids, hooks, log] = await Promise.all([
    newest((query) => call('GET /connections', { query })),
    newest((query) => call('GET /issue-credentials/records', { query })),
    newest((query) => call('GET /present-proof/presentations', { query })),
    loadDids({ call }),
    loadWebhooks({ call }),
    loadEvents({ call }),
  ])
  return { connections, credentials, proofs, dids, ...hooks, ...log }
}

/** The wallet's DIDs; an event tells of those alone that are published. */
export function loadDids({ call }: Pick<Daemon, 'call'>): Promise<Data['dids'][number][]> {
  return newest((query) => call('GET /did-registrar/dids', { query }))
}

/** The webhooks and the last attempts at each, of which no event tells. */
export async function loadWebhooks({
  call,
}: Pick<Daemon, 'call'>): Promise<{ webhooks: Webhook[]; deliveries: Record<string, Delivery[]> }> {
  const { contents: webhooks } = await call('GET /events/webhooks', { query: { limit: pageSize } })
  const attempts = await Promise.all(
    webhooks.map(async ({ id }) => {
      const page = await call('GET /events/webhooks/{id}/deliveries', {
        path: { id },
        query: { limit: mostDeliveries },
      })
      return [id, page.contents] as const
    }),
  )
  return { webhooks, deliveries: Object.fromEntries(attempts) }
}

async function loadEvents({ call }: Pick<Daemon, 'call'>): Promise<Pick<Data, 'events' | 'hasOlderEvents'>> {
  let events: Event[] = []
  let after: string | undefined
  for (let pages = 0; pages < mostPages; pages++) {
    const page = await call('GET /events', { query: { after, limit: pageSize } })
    const all = [...events, ...page.contents]
    events = all.slice(-mostEvents)
    after = events.at(-1)?.id
    if (page.next === undefined) return { events, hasOlderEvents: pages > 0 && all.length > mostEvents }
  }
  // What is in between is not known: rather none than old ones that look new.
  return { events: [], hasOlderEvents: true }
}
