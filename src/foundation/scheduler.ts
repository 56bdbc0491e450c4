/**
 * Fair scheduling of requests between clients.
 *
 * A request runs while it has a slot. Clients that wait get slots in turn (round robin), one per iteration of
 * the event loop, so that a client waits for one request of each other client, however many requests the
 * others have sent.
 */
import { Problem, type ProblemType } from './problem.ts'

export type SchedulerLimits = {
  /** Requests that run at a time: of all clients, and of one client. */
  running: number
  runningPerClient: number
  /** Requests that wait: of all clients, and of one client. */
  waiting: number
  waitingPerClient: number
}

/** A waiting request takes some kilobytes; a running one may keep a wallet's file open. */
const total = { running: 512, waiting: 5_000 }

/** The limits with those of the two settings. */
export function schedulerLimits(settings: {
  TENANT_REQUESTS_AT_ONCE: number
  TENANT_REQUESTS_WAITING: number
}): SchedulerLimits {
  const { TENANT_REQUESTS_AT_ONCE: runningPerClient, TENANT_REQUESTS_WAITING: waitingPerClient } = settings
  return { ...total, runningPerClient, waitingPerClient }
}

export type Slot = {
  /** Gives the slot to another request. Further calls do nothing. */
  release(): void
}

export type Scheduler = {
  /**
   * Waits for a slot of a client, which is any name.
   *
   * @param onWait called if the request has to wait, with a function that cancels it: the result is then
   * `undefined`.
   * @throws {Problem} 429 when too many requests of the client wait, 503 when too many requests wait in
   * total.
   */
  acquire(client: string, onWait?: (cancel: () => void) => void): Promise<Slot | undefined>
  waiting(): number
}

/** `Retry-After`, in seconds: a full queue is processed in less time. */
const retryAfter = 1
const retry = `Retry in ${retryAfter} second, with fewer requests at a time.`

type Client = { name: string; queue: ((slot: Slot | undefined) => void)[]; running: number }

export function createScheduler(limits: SchedulerLimits): Scheduler {
  const clients = new Map<string, Client>()
  /** Clients with a waiting request and a free slot, the next one first. */
  const ready = new Set<Client>()
  let [running, waiting] = [0, 0]
  let hasStarted = false

  /** Keeps a client in `ready` and in `clients` for as long as it belongs there. */
  function update(client: Client): void {
    if (client.queue.length > 0 && client.running < limits.runningPerClient) ready.add(client)
    else ready.delete(client)
    if (client.queue.length + client.running === 0) clients.delete(client.name)
  }

  /** Starts the next request, at most one per iteration of the event loop. */
  function startNext(): void {
    const [client] = ready
    if (hasStarted || !client || running >= limits.running) return
    hasStarted = true
    setImmediate(() => {
      hasStarted = false
      startNext()
    })
    waiting--
    const start = client.queue.shift()!
    const slot = createSlot(client)
    ready.delete(client)
    update(client)
    start(slot)
  }

  function createSlot(client: Client): Slot {
    running++
    client.running++
    let isReleased = false
    return {
      release() {
        if (isReleased) return
        isReleased = true
        running--
        client.running--
        update(client)
        startNext()
      },
    }
  }

  function cancel(client: Client, start: Client['queue'][number]): void {
    const index = client.queue.indexOf(start)
    if (index < 0) return
    client.queue.splice(index, 1)
    waiting--
    update(client)
    start(undefined)
  }

  return {
    acquire: (name, onWait) =>
      new Promise((resolve, reject) => {
        const client = clients.get(name) ?? { name, queue: [], running: 0 }
        const refuse = (type: ProblemType, detail: string) =>
          reject(new Problem(type, `${detail} ${retry}`, { retryAfter }))
        if (client.queue.length >= limits.waitingPerClient)
          return refuse('TooManyRequests', `${limits.waitingPerClient} requests of yours wait.`)
        if (waiting >= limits.waiting)
          return refuse('error:ServiceUnavailable', 'The agent has too many requests waiting.')
        clients.set(name, client)
        client.queue.push(resolve)
        waiting++
        update(client)
        startNext()
        if (client.queue.includes(resolve)) onWait?.(() => cancel(client, resolve))
      }),
    waiting: () => waiting,
  }
}
