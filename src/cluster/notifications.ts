/**
 * Notifications of PostgreSQL (`LISTEN`), on a connection of its own that is opened again when it breaks.
 *
 * A pooler in transaction mode accepts `LISTEN` and delivers nothing. So each connection first sends a
 * notification to itself.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Notification } from 'pg'
import { newId } from '../foundation/id.ts'
import type { Log } from '../foundation/log.ts'
import type { Connections } from '../foundation/storage/postgres/connect.ts'

type Options = {
  connections: Connections
  log: Log
  /** Called with each notification of these channels. */
  channels: Readonly<Record<string, (payload: string) => void>>
  /** Called after each new connection, since notifications may have been missed. */
  onConnect: () => void
  /** Called with whether notifications arrive. */
  onDelivery: (arrives: boolean) => void
}

const retryMs = 500

/** How long the notification of a connection to itself may take. */
const selfTestMs = 2_000

/** Starts to listen. Returns the function that stops it. */
export function listen(options: Options): () => Promise<void> {
  const stop = new AbortController()
  const done = run(options, stop.signal)
  return async () => {
    stop.abort()
    await done
  }
}

async function run(options: Options, signal: AbortSignal): Promise<void> {
  let isKnown = false
  const isStopped = () => signal.aborted
  while (!isStopped()) {
    try {
      await stay(options, signal)
    } catch (error) {
      if (isStopped()) return
      options.onDelivery(false)
      if (!isKnown) options.log.debug({ err: error }, 'notifications of the database are interrupted')
      isKnown = true
    }
    await sleep(retryMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Listens on one connection until it breaks or `signal` is aborted. */
async function stay({ connections, channels, onConnect, onDelivery }: Options, signal: AbortSignal) {
  const client = connections.createClient()
  const gone = new Promise<void>((resolve, reject) => {
    client.on('error', reject)
    client.on('end', () => reject(new Error('the connection has ended')))
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  // It is awaited only after the connection is made.
  gone.catch(() => undefined)
  try {
    await client.connect()
    client.on('notification', ({ channel, payload = '' }: Notification) => channels[channel]?.(payload))
    for (const channel of Object.keys(channels)) await client.query(`listen ${channel}`)
    onConnect()
    const arrives = await Promise.race([deliversNotifications(client), gone.then(() => false)])
    if (!signal.aborted) onDelivery(arrives)
    await gone
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Whether a connection gets a notification that it sends to itself. */
export async function deliversNotifications(client: Client): Promise<boolean> {
  const channel = `agent_test_${newId().replaceAll('-', '')}`
  await client.query(`listen ${channel}`)
  const signal = AbortSignal.timeout(selfTestMs)
  const arrived = (async () => {
    for (;;) {
      const [message] = (await once(client, 'notification', { signal })) as [Notification]
      if (message.channel === channel) return true
    }
  })().catch(() => false)
  await client.query(`notify ${channel}`)
  const arrives = await arrived
  await client.query(`unlisten ${channel}`)
  return arrives
}
