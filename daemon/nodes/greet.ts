/** Calls another node at its internal address, to learn whether it can be reached. */
import { systemReason } from '../../src/foundation/system-reason.ts'
import { createPeerAgent, splitAddress } from './connection.ts'
import { forwardedHeader } from './listener.ts'
import { request } from 'node:https'

/** `key` is the key of the nodes. Uses a new connection. @throws the reason, if the node does not answer */
export async function greetNode(key: Uint8Array, address: string, timeoutMs: number): Promise<void> {
  const agent = createPeerAgent(key)
  const [host, port] = splitAddress(address)
  const headers = { [forwardedHeader]: JSON.stringify({ to: 'rest', address: '' }) }
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    await new Promise<void>((resolve, reject) => {
      const sent = request({ agent, host, port, path: '/_system/health', headers, signal })
      sent.once('error', (error) =>
        reject(
          new Error(
            signal.aborted ? `it does not answer within ${timeoutMs / 1_000} s` : systemReason(error),
          ),
        ),
      )
      sent.once('response', (response) => {
        response.resume()
        resolve()
      })
      sent.end()
    })
  } finally {
    agent.destroy()
  }
}
