/** The stream of an open page: one event, `closed`, when its link closes. The page then reloads. */
import type { Notifier, Subscription } from '../../src/foundation/notifier.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { toPreamble, toStream } from '../http/event-stream.ts'
import type { Answer } from '../http/route.ts'

/** Open streams of one address, and of all addresses. A page without one shows its state at each reload. */
const [perAddress, inAll] = [100, 1_000]

/** After this time a stream ends, and the browser opens another. */
const maxStreamMs = 600_000
const heartbeatMs = 15_000

/** What closes a link: a commit that notifies of the topic (`noteChange`), or the time. */
export type Watched = { walletId: string; topic: string; remainingMs: number }

/** Open streams by address. */
const streams = new WeakMap<Notifier, Map<string, number>>()

/**
 * The stream of a link. `watch` reads the link, and throws 410 (or 404, for a deleted wallet) when it is
 * closed. `closedBefore` are the statuses of a link that was closed before the stream was opened.
 *
 * @throws {Problem} `TooManyRequests`, and what `watch` throws for a link that cannot be read
 */
export async function liveEvents(
  notifier: Notifier,
  { address, whenGone }: { address: string; whenGone: () => AbortSignal },
  watch: () => Promise<Watched>,
  closedBefore = [410],
): Promise<Answer<'text/event-stream'>> {
  const gone = whenGone()
  const leave = enter(notifier, address)
  try {
    const watched = await unlessClosed(watch, closedBefore)
    const subscription = watched && notifier.subscribe(watched.topic, watched.walletId, gone)
    return {
      type: 'text/event-stream',
      headers: { 'X-Accel-Buffering': 'no', 'Cache-Control': 'no-store' },
      body: toStream(
        subscription ? follow(subscription, watch) : closed(),
        subscription?.signal ?? gone,
        () => {
          subscription?.close()
          leave()
        },
      ),
    }
  } catch (error) {
    leave()
    throw error
  }
}

/** Counts a stream until the returned function is called. @throws {Problem} `TooManyRequests` */
function enter(notifier: Notifier, address: string): () => void {
  const open = streams.get(notifier) ?? new Map<string, number>()
  streams.set(notifier, open)
  const mine = open.get(address) ?? 0
  const all = [...open.values()].reduce((sum, count) => sum + count, 0)
  if (mine >= perAddress || all >= inAll)
    throw new Problem(
      'TooManyRequests',
      `${perAddress} streams of pages of an address may be open, and ${inAll} in all. Close one first.`,
    )
  open.set(address, mine + 1)
  return () => {
    const left = open.get(address)! - 1
    if (left === 0) open.delete(address)
    else open.set(address, left)
  }
}

async function* follow(
  subscription: Subscription,
  watch: () => Promise<Watched>,
): AsyncGenerator<string, void> {
  const endsAt = performance.now() + maxStreamMs
  yield toPreamble(undefined)
  for (;;) {
    const watched = await unlessClosed(watch, [404, 410])
    if (!watched) return yield closedFrame
    // By another clock, the link may be open for a moment longer.
    const closesAt = performance.now() + Math.max(watched.remainingMs, 500)
    for (;;) {
      const now = performance.now()
      if (now >= endsAt) return
      if (now >= closesAt) break
      const changed = await subscription.next(Math.min(heartbeatMs, closesAt - now, endsAt - now))
      if (!changed) return
      if (changed.length > 0) break
      // A comment keeps the connection open in proxies.
      yield ':\n\n'
    }
  }
}

const closedFrame = 'event: closed\ndata: closed\n\n'

// A stream yields at most one text at a time, so it is a generator too.
async function* closed(): AsyncGenerator<string, void> {
  yield closedFrame
}

async function unlessClosed<T>(read: () => Promise<T>, statuses: readonly number[]): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Problem && statuses.includes(error.status)) return undefined
    throw error
  }
}
