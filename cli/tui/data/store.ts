/** The data of the wallet: loaded once, then updated by the event stream. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readEvents, type Event } from '../../client/events.ts'
import { toReport } from '../../errors/report.ts'
import { apply, emptyData, type Daemon, type Data } from './data.ts'
import { load, loadDids, loadWebhooks } from './load.ts'

/** Milliseconds until the next attempt after a rejected request. */
const refusedMs = 5_000

/** Milliseconds until deliveries are reloaded. The daemon retries after five seconds. */
const retriedMs = 5_500

/** Changes within this time, in milliseconds, cause one notification. */
const frameMs = 16

export type Store = {
  get: () => Data
  /** Calls the listener after changes. Returns a function that unsubscribes it. */
  subscribe: (listener: () => void) => () => void
  /** Reloads everything. */
  reload: () => Promise<void>
  /** Reloads the DIDs. New DIDs have no event. */
  reloadDids: () => Promise<void>
  /** Reloads the webhooks and deliveries, and once more after a retry. */
  reloadWebhooks: () => Promise<void>
  /** Applies a change without an event, such as a deletion. */
  amend: (change: (data: Data) => Partial<Data>) => void
  close: () => void
}

/**
 * Opens the store. It is loaded when this returns, and follows the daemon across restarts.
 *
 * @throws {ProblemError} @throws {DaemonUnreachable} when the first requests fail
 */
export async function openStore(daemon: Daemon): Promise<Store> {
  const ending = new AbortController()
  const { signal } = ending
  const listeners = new Set<() => void>()
  let data = emptyData
  let notifyTimer: NodeJS.Timeout | undefined
  let reloadTimer: NodeJS.Timeout | undefined
  let retryTimer: NodeJS.Timeout | undefined

  function set(change: Partial<Data>): void {
    data = { ...data, ...change }
    notifyTimer ??= setTimeout(() => {
      notifyTimer = undefined
      for (const listener of listeners) listener()
    }, frameMs)
  }

  function fail(error: unknown): void {
    set({ link: isAway(error) ? { is: 'away' } : { is: 'refused', why: reasonOf(error) } })
  }

  let loading: Promise<void> = Promise.resolve()
  function reload(): Promise<void> {
    clearTimeout(reloadTimer)
    loading = load(daemon).then(
      (loaded) => set({ ...loaded, link: { is: 'live' } }),
      (error: unknown) => {
        fail(error)
        if (!signal.aborted) reloadTimer = setTimeout(() => void reload(), refusedMs)
      },
    )
    return loading
  }

  const begin = (): Promise<AsyncIterable<Event>> =>
    readEvents((lastEventId) => daemon.open(lastEventId, signal), undefined, {
      signal,
      onChange: (isThere) => void (isThere ? reload() : set({ link: { is: 'away' } })),
    })

  /** Follows the events until the store is closed. After a rejected stream it reloads all lists. */
  async function follow(first: AsyncIterable<Event>): Promise<void> {
    let events: AsyncIterable<Event> | undefined = first
    while (!signal.aborted) {
      try {
        for await (const event of events ?? (await begin())) {
          // Apply events after the lists, which may be newer.
          await loading
          set(apply(data, event))
        }
      } catch (error) {
        fail(error)
      }
      events = undefined
      await sleep(refusedMs, undefined, { signal }).catch(() => undefined)
      if (!signal.aborted) events = await begin().catch(() => undefined)
      if (events) await reload()
    }
  }

  async function reloadWebhooks(): Promise<void> {
    clearTimeout(retryTimer)
    set(await loadWebhooks(daemon))
    const isTriedAgain = Object.values(data.deliveries).some(
      ([last]) => last?.outcome === 'failed' && Date.now() - Date.parse(last.attemptedAt) < 2 * retriedMs,
    )
    if (isTriedAgain && !signal.aborted)
      retryTimer = setTimeout(() => void reloadWebhooks().catch(() => undefined), retriedMs)
  }

  const events = await begin()
  set({ ...(await load(daemon)), link: { is: 'live' } })
  void follow(events)

  return {
    get: () => data,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    reload,
    reloadDids: async () => set({ dids: await loadDids(daemon) }),
    reloadWebhooks,
    amend: (change) => set(change(data)),
    close() {
      for (const timer of [notifyTimer, reloadTimer, retryTimer]) clearTimeout(timer)
      ending.abort()
    },
  }
}

function isAway(error: unknown): boolean {
  return (error as Error).name === 'DaemonUnreachable'
}

function reasonOf(error: unknown): string {
  const { title, detail } = toReport(error, 'tui')
  return detail ?? title
}
