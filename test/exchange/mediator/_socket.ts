/** A wallet's WebSocket. It unpacks and queues received messages. */
import { WebSocket } from 'ws'
import type { PlaintextMessage } from '../../../src/exchange/didcomm/message.ts'
import type { TestWallet } from './_mediator.ts'

export type TestSocket = Awaited<ReturnType<typeof openSocket>>

export async function openSocket(didcommUrl: string, wallet: TestWallet, path = '/ws') {
  const socket = new WebSocket(didcommUrl.replace(/^http/, 'ws') + path)
  const arrived: PlaintextMessage[] = []
  const waiting = new Set<() => void>()
  const look = () => waiting.forEach((each) => each())
  let closed: number | undefined
  let failed: Error | undefined
  socket.on('message', (data: Buffer) => {
    void wallet.open(data.toString()).then(({ message }) => {
      arrived.push(message)
      look()
    })
  })
  socket.on('close', (code) => {
    closed = code
    look()
  })
  await new Promise<void>((resolve, reject) => {
    socket.on('open', () => resolve())
    socket.on('error', (error) => {
      failed = error
      reject(error)
    })
  })

  /** Waits until `get` returns a value. Only the time limit of the test ends the wait. */
  function wait<Value>(get: () => Value | undefined): Promise<Value> {
    return new Promise((resolve) => {
      const each = () => {
        const value = get()
        if (value === undefined) return
        waiting.delete(each)
        resolve(value)
      }
      waiting.add(each)
      each()
    })
  }

  return {
    arrived,
    send: (packed: string | Uint8Array) => socket.send(packed),
    /** The oldest unread message. */
    next: () => wait(() => arrived.shift()),
    /** The close code sent by the other side. */
    closed: () => wait(() => closed),
    get failed() {
      return failed
    },
    [Symbol.dispose]() {
      socket.terminate()
    },
  }
}
