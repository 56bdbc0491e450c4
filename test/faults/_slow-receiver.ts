/** The effect of a webhook receiver that accepts connections and never answers on another tenant. */
import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Daemon } from '../support/daemon.ts'
import { startServer, withBody } from '../support/server.ts'
import { percentile, sample } from './_samples.ts'
import { ask, openSetup, newDaemonTenant } from './_setup.ts'

export type Neighbourhood = {
  /** Events per second of the other tenant, alone and next to the hanging receiver. */
  alone: number
  beside: number
  /** 99th percentile in milliseconds from an event to its delivery to the other tenant. */
  aloneP99: number
  besideP99: number
  /** Memory growth of the daemon in MB while the events waited. */
  grown: number
  waiting: number
  /** Events delivered after the receiver recovered, and duplicate ids. */
  delivered: number
  repeated: number
}

/** Milliseconds per measurement. Measurements alternate, so that a slow machine affects both. */
const roundMs = 1_000

/**
 * `waiting` events for a receiver that never answers. Two neighbours at two daemons have the same events and
 * are measured alternately, each for `seconds`: one next to the receiver, one alone.
 */
export async function watchNeighbour({
  waiting,
  seconds,
}: {
  waiting: number
  seconds: number
}): Promise<Neighbourhood> {
  await using setup = await openSetup()
  const [daemon, quiet] = setup.daemons
  await using mute = await openSilentReceiver()
  await using receiver = await openSilentReceiver()
  receiver.recover()
  const prepare = async (daemon: Daemon) => {
    const [slow, neighbour] = [
      await newDaemonTenant(daemon, 'slow'),
      await newDaemonTenant(daemon, 'neighbour'),
    ]
    await ask(neighbour, 'POST /events/webhooks', { url: receiver.url })
    return { slow, neighbour, waits: [] as number[], ms: 0 }
  }
  const [beside, alone] = [await prepare(daemon), await prepare(quiet)]

  const watch = async (side: typeof beside) => {
    const start = performance.now()
    for (let from = start; from < start + roundMs; from = performance.now()) {
      const { connectionId } = await ask(side.neighbour, 'POST /connections', { label: 'watched' })
      await receiver.receivedOf(connectionId)
      side.waits.push(performance.now() - from)
    }
    side.ms += performance.now() - start
  }
  const watchInTurns = async () => {
    for (const side of [beside, alone]) Object.assign(side, { waits: [], ms: 0 })
    for (let round = 0; round < (seconds * 1_000) / roundMs; round++)
      for (const side of [beside, alone]) await watch(side)
  }

  await watchInTurns()
  const webhook = await ask(beside.slow, 'POST /events/webhooks', { url: mute.url })
  const before = sample(daemon.pid).memory
  for (let made = 0; made < waiting;) {
    const batch = Math.min(50, waiting - made)
    for (const { slow } of [beside, alone])
      await Promise.all(
        Array.from({ length: batch }, () => ask(slow, 'POST /connections', { label: 'waiting' })),
      )
    made += batch
  }
  await watchInTurns()
  const grown = sample(daemon.pid).memory - before

  mute.recover()
  for (let last = -1; mute.ids.size < waiting && mute.ids.size !== last;) {
    last = mute.ids.size
    await setTimeout(12_000)
  }
  // Abandoned deliveries are dead letters.
  await ask(beside.slow, `POST /events/webhooks/${webhook.id}/replay`, { failed: true })
  for (let waited = 0; mute.ids.size < waiting && waited < 300; waited++) await setTimeout(100)
  await setTimeout(1_000)
  return {
    alone: rate(alone),
    beside: rate(beside),
    aloneP99: percentile(alone.waits, 0.99),
    besideP99: percentile(beside.waits, 0.99),
    grown,
    waiting,
    delivered: mute.ids.size,
    repeated: [...mute.ids.values()].filter((count) => count > 1).length,
  }
}

function rate({ waits, ms }: { waits: number[]; ms: number }): number {
  return (waits.length * 1_000) / ms
}

/** A receiver that does not answer until it recovers, and then counts events. */
async function openSilentReceiver() {
  const ids = new Map<string, number>()
  const listeners = new Map<string, () => void>()
  const received = new Set<string>()
  let isSilent = true
  const open = new Set<ServerResponse>()
  const receive = withBody((body, _, response) => {
    response.end()
    const { id, data } = JSON.parse(body) as { id: string; data: { connectionId: string } }
    ids.set(id, (ids.get(id) ?? 0) + 1)
    received.add(data.connectionId)
    listeners.get(data.connectionId)?.()
  })
  const server = await startServer((request, response) =>
    isSilent ? open.add(response) : receive(request, response),
  )
  return {
    url: `${server.url}/`,
    ids,
    recover() {
      isSilent = false
      for (const response of open) response.destroy()
    },
    receivedOf: (id: string) =>
      received.has(id) ? Promise.resolve() : new Promise<void>((resolve) => listeners.set(id, resolve)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
