/** A minimal webhook receiver: it parses each event once, and notifies the flow that waits for it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The state of a record in an event. */
export type RecordData = Record<string, any>

type Event = { walletId: string; data: RecordData }

const patienceMs = 30_000

export type Receiver = Awaited<ReturnType<typeof openReceiver>>

export async function openReceiver() {
  const waiting = new Map<string, (data: RecordData) => void>()
  const early = new Map<string, RecordData>()
  let received = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.end()
      received++
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Event | Event[]
      if (Array.isArray(body)) body.forEach(take)
      else take(body)
    })
  })
  function take({ walletId, data }: Event): void {
    const key = `${walletId} ${data['thid'] ?? data['did']} ${data['state'] ?? data['protocolState'] ?? data['status']}`
    const tell = waiting.get(key)
    if (tell) tell(data)
    else early.set(key, data)
    waiting.delete(key)
  }
  server.keepAliveTimeout = patienceMs
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /**
     * Waits until a wallet's record of a thread, or its DID, is announced in a state, past or future. @throws
     * after half a minute.
     */
    reached(walletId: string, subject: string, state: string): Promise<RecordData> {
      const key = `${walletId} ${subject} ${state}`
      const data = early.get(key)
      if (data) {
        early.delete(key)
        return Promise.resolve(data)
      }
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`${state} of ${subject} was not announced`)),
          patienceMs,
        )
        waiting.set(key, (data) => {
          clearTimeout(timer)
          resolve(data)
        })
      })
    },
    /** The number of requests since the last call. */
    received() {
      const count = received
      received = 0
      return count
    },
    /** Forgets events that no flow waits for. */
    forget: () => early.clear(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
