/** The wallet as it is now: lists that are asked for once, and kept up by the stream of events. Nothing is asked for again and again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readEvents, type Event } from '../../client/events.ts'
import { toReport } from '../../errors/report.ts'
import { apply, nothing, type Daemon, type Data } from './data.ts'
import { load, loadDids, loadWebhooks } from './load.ts'

/** How long to wait, in milliseconds, before a daemon that refused is asked again. */
const refusedMs = 5_000

/** An event that was not taken is tried again after five seconds: by then, in milliseconds, there is something new. */
const retriedMs = 5_500

/** How long, in milliseconds, changes are gathered before anybody is told: as long as a picture of a film. */
const frameMs = 16

export type Store = {
  get: () => Data
  /** Told after changes; returns how to end that. */
  subscribe: (listener: () => void) => () => void
  /** Asks for everything anew. */
  reload: () => Promise<void>
  /** Asks for the DIDs anew: one that another program makes is not announced. */
  reloadDids: () => Promise<void>
  /** Asks for the webhooks and the last attempts at them anew, and once more while some of them will be tried again. */
  reloadWebhooks: () => Promise<void>
  /** Makes a change that the daemon has made without an event, such as a deletion. */
  amend: (change: (data: Data) => Partial<Data>) => void
  close: () => void
}

/**
 * Opens the store: what it has is complete once this returns, and follows the daemon from then on, across its restarts.
 *
 * @throws {ProblemError} @throws {DaemonUnreachable} when the daemon refuses, or is not there to begin with.
 */
export async function openStore(daemon: Daemon): Promise<Store> {
  const ending = new AbortController()
  const { signal } = ending
  const listeners = new Set<() => void>()
  let data = nothing
  let telling: NodeJS.Timeout | undefined
  let again: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  function set(change: Partial<Data>): void {
    data = { ...data, ...change }
    telling ??= setTimeout(() => {
      telling = undefined
      for (const listener of listeners) listener()
    }, frameMs)
  }

  function fail(error: unknown): void {
    set({ link: isAway(error) ? { is: 'away' } : { is: 'refused', why: reasonOf(error) } })
  }

  let loading: Promise<void> = Promise.resolve()
  function reload(): Promise<void> {
    clearTimeout(again)
    loading = load(daemon).then(
      (loaded) => set({ ...loaded, link: { is: 'live' } }),
      (error: unknown) => {
        fail(error)
        if (!signal.aborted) again = setTimeout(() => void reload(), refusedMs)
      },
    )
    return loading
  }

  const begin = (): Promise<AsyncIterable<Event>> =>
    readEvents((lastEventId) => daemon.open(lastEventId, signal), undefined, {
      signal,
      onChange: (isThere) => void (isThere ? reload() : set({ link: { is: 'away' } })),
    })

  /** Follows the events to the end of the store. A stream that is refused begins anew, with all lists. */
  async function follow(first: AsyncIterable<Event>): Promise<void> {
    let events: AsyncIterable<Event> | undefined = first
    while (!signal.aborted) {
      try {
        for await (const event of events ?? (await begin())) {
          // What was there before the lists were asked for must not come after them.
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
    clearTimeout(retry)
    set(await loadWebhooks(daemon))
    const isTriedAgain = Object.values(data.deliveries).some(
      ([last]) => last?.outcome === 'failed' && Date.now() - Date.parse(last.attemptedAt) < 2 * retriedMs,
    )
    if (isTriedAgain && !signal.aborted)
      retry = setTimeout(() => void reloadWebhooks().catch(() => undefined), retriedMs)
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
      for (const timer of [telling, again, retry]) clearTimeout(timer)
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
