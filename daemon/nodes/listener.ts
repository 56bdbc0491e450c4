/** The listener for the other nodes of an agent. They forward requests for wallets that this node owns. */
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import * as z from 'zod'
import { tryParseJson } from '../../src/foundation/json.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { noteForwarded } from '../middleware/address.ts'
import { maxHeaders } from '../middleware/head.ts'
import { peerServerOptions, splitAddress } from './connection.ts'

/** The header with what the first node knows of a request. */
export const forwardedHeader = 'x-agent-forwarded'

/**
 * The header of a response that says that nothing was done, because the node does not own the wallet (any
 * more).
 */
export const notOwnerHeader = 'x-agent-not-owner'

/** `to` is the port that the client has called. */
export const Details = z.object({ to: z.enum(['rest', 'didcomm']), address: z.string().max(100) })

type Handlers = Record<z.output<typeof Details>['to'], RequestListener>

export type PeerListener = {
  /** `host:port` */
  readonly address: string
  readonly server: Server
  /** Handles requests of nodes that have the key from now on. Before, no node can connect. */
  serve(key: Uint8Array, handlers: Handlers): void
}

/** Binds the listener. @throws {StartError} when the address is not one of this machine, or is in use */
export async function bindPeerListener(address: string): Promise<PeerListener> {
  let served: { key: Uint8Array; handlers: Handlers } | undefined
  const server = createServer(
    peerServerOptions(() => served?.key),
    (request, response) => {
      const details = readDetails(request)
      if (!details) return response.writeHead(400).end()
      noteForwarded(request, details.address)
      served!.handlers[details.to](request, response)
    },
  )
  server.on('upgrade', (request: IncomingMessage) => {
    const details = readDetails(request)
    if (details) noteForwarded(request, details.address)
    else request.destroy()
  })
  server.maxHeadersCount = maxHeaders + 2
  const [host, wanted] = splitAddress(address)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new StartError(
          `The address ${address} of AGENT_NODE_ADDRESS cannot be bound: ${systemReason(error)}. Use an address of this machine and a free port.`,
          5,
          { cause: error },
        ),
      ),
    )
    server.listen(wanted, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    address: address.replace(/\d+$/, String(port)),
    server,
    serve: (key, handlers) => void (served = { key, handlers }),
  }
}

/** Takes the details out of the headers. */
function readDetails(request: IncomingMessage): z.output<typeof Details> | undefined {
  const text = request.headers[forwardedHeader]
  delete request.headers[forwardedHeader]
  return Details.safeParse(tryParseJson(typeof text === 'string' ? text : '')).data
}
