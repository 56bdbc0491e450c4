/** Loads the data of the dashboard. */
import { maxEvents, type Daemon, type Data, type Delivery, type Webhook } from './data.ts'

const pageSize = 1_000

/** The number of deliveries shown for a webhook. */
const maxDeliveries = 50

type Loaded = Omit<Data, 'link' | 'unconnected'>

/** Loads all lists. @throws {ProblemError} @throws {DaemonUnreachable} */
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

/** Loads the DIDs of the wallet. Only published DIDs have events. */
export function loadDids({ call }: Pick<Daemon, 'call'>): Promise<Data['dids'][number][]> {
  return newest((query) => call('GET /did-registrar/dids', { query }))
}

/** Loads the webhooks and their last deliveries. They have no events. */
export async function loadWebhooks({
  call,
}: Pick<Daemon, 'call'>): Promise<{ webhooks: Webhook[]; deliveries: Record<string, Delivery[]> }> {
  const { contents: webhooks } = await call('GET /events/webhooks', { query: { limit: pageSize } })
  const attempts = await Promise.all(
    webhooks.map(async ({ id }) => {
      const page = await call('GET /events/webhooks/{id}/deliveries', {
        path: { id },
        query: { limit: maxDeliveries },
      })
      return [id, page.contents] as const
    }),
  )
  return { webhooks, deliveries: Object.fromEntries(attempts) }
}

async function loadEvents({ call }: Pick<Daemon, 'call'>): Promise<Pick<Data, 'events' | 'hasOlderEvents'>> {
  const { contents, next } = await call('GET /events', { query: { limit: maxEvents, order: 'desc' } })
  return { events: contents.toReversed(), hasOlderEvents: next !== undefined }
}

type Page<Item> = { contents: Item[]; next?: string | undefined }

/** The largest number of items of a list. */
const most = 1_000

/**
 * Returns the newest items of a list, oldest first. Finds the end of a long list by bisection, because pages
 * have no total.
 */
export async function newest<Item>(
  ask: (query: { offset: number; limit: number }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const first = await ask({ offset: 0, limit: most })
  if (first.next === undefined) return first.contents
  const isThere = async (offset: number) => (await ask({ offset, limit: 1 })).contents.length > 0
  let [there, beyond] = [most, 2 * most]
  while (await isThere(beyond)) [there, beyond] = [beyond, 2 * beyond]
  while (beyond - there > 1) {
    const middle = Math.floor((there + beyond) / 2)
    if (await isThere(middle)) there = middle
    else beyond = middle
  }
  return (await ask({ offset: beyond - most, limit: most })).contents
}
