/**
 * What waits in the wallets, as their last polls have read it: jobs, and events for webhooks. For metrics,
 * which so read no file.
 *
 * Only wallets in which something waits or runs are in it.
 */
type Waiting = { count: number; since: number }

/** Numbers over all wallets. Ages are in seconds, 0 if nothing waits. */
export type Backlog = { jobs: number; oldestJobAge: number; events: number; oldestEventAge: number }

export class Backlogs {
  readonly #jobs = new Map<string, Waiting>()
  readonly #events = new Map<string, Map<string, Waiting>>()
  readonly #now: () => number

  /** `now` is the clock of job times, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Sets a wallet's jobs: those that a poll has found, or `running` ones if it has found none beside them. */
  setJobs(walletId: string, found: Waiting | undefined, running: number): void {
    const since = this.#jobs.get(walletId)?.since ?? this.#now()
    if (found) this.#jobs.set(walletId, found)
    else if (running > 0) this.#jobs.set(walletId, { count: running, since })
    else this.#jobs.delete(walletId)
  }

  /**
   * Sets the events that wait for a wallet's webhooks. Those of `busy` webhooks, which the poll has left out,
   * are kept.
   */
  setEvents(walletId: string, found: ReadonlyMap<string, Waiting>, busy: readonly string[]): void {
    const known = this.#events.get(walletId)
    const all = new Map(found)
    for (const id of busy) if (known?.has(id)) all.set(id, known.get(id)!)
    if (all.size > 0) this.#events.set(walletId, all)
    else this.#events.delete(walletId)
  }

  /** A webhook has accepted the last event. */
  clearWebhook(walletId: string, webhookId: string): void {
    const known = this.#events.get(walletId)
    known?.delete(webhookId)
    if (known?.size === 0) this.#events.delete(walletId)
  }

  forget(walletId: string): void {
    this.#jobs.delete(walletId)
    this.#events.delete(walletId)
  }

  total(): Backlog {
    const jobs = this.#sum(this.#jobs.values())
    const events = this.#sum([...this.#events.values()].flatMap((each) => [...each.values()]))
    return { jobs: jobs.count, oldestJobAge: jobs.age, events: events.count, oldestEventAge: events.age }
  }

  #sum(all: Iterable<Waiting>): { count: number; age: number } {
    let [count, since] = [0, Infinity]
    for (const each of all) {
      count += each.count
      since = Math.min(since, each.since)
    }
    return { count, age: count === 0 ? 0 : Math.max(0, this.#now() - since) / 1_000 }
  }
}
