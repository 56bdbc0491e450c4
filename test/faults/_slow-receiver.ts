/** One tenant's receiver takes connections and never answers, with thousands of events waiting for it: what its neighbour notices. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { percentile, sample } from './_samples.ts'
import { ask, openTown, newResident } from './_town.ts'

export type Neighbourhood = {
  /** Events a second that the neighbour makes and hears of, alone and beside the receiver that never answers. */
  alone: number
  beside: number
  /** Milliseconds from an event's making until the neighbour has heard of it, of 99 in 100. */
  aloneP99: number
  besideP99: number
  /** What the daemon's memory grew by while the events waited, in MB. */
  grown: number
  waiting: number
  /** Events that arrived after the receiver had recovered, and how many ids came more than once. */
  delivered: number
  repeated: number
}

/** `waiting` events for a receiver that never answers; the neighbour is watched for `seconds`, before and meanwhile. */
export async function watchNeighbour({ waiting, seconds }: { waiting: number; seconds: number }): Promise<Neighbourhood> {
  await using town = await openTown()
  const [daemon] = town.daemons
  const [slow, neighbour] = [await newResident(daemon, 'slow'), await newResident(daemon, 'neighbour')]
  await using mute = await openMute()
  await using heard = await openMute()
  heard.recover()
  await ask(neighbour, 'POST /events/webhooks', { url: heard.url })

  const watch = async () => {
    const waits: number[] = []
    const end = performance.now() + seconds * 1_000
    const start = performance.now()
    while (performance.now() < end) {
      const from = performance.now()
      const { connectionId } = await ask(neighbour, 'POST /connections', { label: 'watched' })
      await heard.heardOf(connectionId)
      waits.push(performance.now() - from)
    }
    return { rate: (waits.length * 1_000) / (performance.now() - start), p99: percentile(waits, 0.99) }
  }

  await watch()
  const alone = await watch()
  const webhook = await ask(slow, 'POST /events/webhooks', { url: mute.url })
  const before = sample(daemon.pid).memory
  for (let made = 0; made < waiting;) {
    const batch = Math.min(50, waiting - made)
    await Promise.all(Array.from({ length: batch }, () => ask(slow, 'POST /connections', { label: 'waiting' })))
    made += batch
  }
  const beside = await watch()
  const grown = sample(daemon.pid).memory - before

  mute.recover()
  for (let last = -1; mute.ids.size < waiting && mute.ids.size !== last;) {
    last = mute.ids.size
    await setTimeout(12_000)
  }
  // What was given up in the meantime is a dead letter.
  await ask(slow, `POST /events/webhooks/${webhook.id}/replay`, { failed: true })
  for (let waited = 0; mute.ids.size < waiting && waited < 300; waited++) await setTimeout(100)
  await setTimeout(1_000)
  return {
    alone: alone.rate,
    beside: beside.rate,
    aloneP99: alone.p99,
    besideP99: beside.p99,
    grown,
    waiting,
    delivered: mute.ids.size,
    repeated: [...mute.ids.values()].filter((count) => count > 1).length,
  }
}

/** A receiver that answers nobody until it recovers, and then counts what it takes. */
async function openMute() {
  const ids = new Map<string, number>()
  const listeners = new Map<string, () => void>()
  const heard = new Set<string>()
  let isMute = true
  const open = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    if (isMute) return void open.add(response)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.end()
      const { id, data } = JSON.parse(Buffer.concat(chunks).toString()) as { id: string; data: { connectionId: string } }
      ids.set(id, (ids.get(id) ?? 0) + 1)
      heard.add(data.connectionId)
      listeners.get(data.connectionId)?.()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    ids,
    recover() {
      isMute = false
      for (const response of open) response.destroy()
    },
    heardOf: (id: string) => (heard.has(id) ? Promise.resolve() : new Promise<void>((resolve) => listeners.set(id, resolve))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
