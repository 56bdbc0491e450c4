/** The WebSocket `/ws` of the mediator, on the DIDComm port. */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Agent } from '../../src/agent/agent.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { reasonOf } from '../../src/foundation/reason.ts'
import type { Slot } from '../../src/foundation/scheduler.ts'
import { parseEnvelope } from '../../src/exchange/didcomm/jwe.ts'
import { RateLimited } from '../../src/exchange/mediator/handler.ts'
import type { Mediator } from '../../src/exchange/mediator/mediator.ts'
import type { Channel } from '../../src/exchange/mediator/pickup.ts'
import { mediatorId } from '../../src/cluster/ownership.ts'
import { addressOf, isForwarded } from '../middleware/address.ts'
import { findHeadFault } from '../middleware/head.ts'
import type { Forwarding } from '../nodes/forward.ts'
import { Heartbeat } from './heartbeat.ts'
import { countApart } from './listen.ts'
import { refuse } from './refused-upgrade.ts'
import { Tally } from './tally.ts'

/** Waiting messages of one socket, above which it is not read further. */
const maxPending = 8
/** Unsent bytes of a socket. Further messages stay in the queue until they are requested. */
const maxBuffered = 4_194_304
/** The time until the first valid message of a new socket. */
const firstMessageMs = 10_000
/** Close codes (RFC 6455 §7.4.1, IANA WebSocket Close Code Number Registry). */
const [policyViolation, serviceRestart, tryAgainLater] = [1008, 1012, 1013]

/** How long a client is asked to wait when all WebSockets are taken, in seconds. */
const fullSeconds = 30

const notFound = () =>
  new Problem('error:ResourcePathNotFound', 'The mediator accepts WebSockets at /ws. Connect there.')
const full = (limit: number) =>
  new Problem(
    'error:ServiceUnavailable',
    `The mediator has ${limit} open WebSockets, and accepts no more (MEDIATOR_SOCKETS). Try again later, or poll over HTTP.`,
    { retryAfter: fullSeconds },
  )
const tooMany = (limit: number) =>
  new Problem(
    'error:MediatorError:TooManyRequests',
    `Your address has ${limit} open WebSockets, and may have no more (MEDIATOR_SOCKETS_PER_ADDRESS). Close some, or poll over HTTP.`,
    { retryAfter: fullSeconds },
  )
const noOwner = () =>
  new Problem(
    'error:ServiceUnavailable',
    'The mediator is being taken over by another process. Connect again in a moment.',
    { retryAfter: 1 },
  )

type SocketAgent = Pick<Agent, 'config' | 'mediator' | 'log' | 'scheduler'> & {
  env: Pick<Agent['env'], 'ownership'>
}

type Options = { patienceMs?: number; forwarding?: Forwarding | undefined }

/**
 * Accepts WebSockets at `/ws` of servers, if the agent is a mediator, until the returned function is called.
 * They count apart from the connections of the port, those that are forwarded to another process too.
 *
 * @param patienceMs the time until the first valid message of a new socket.
 */
export function serveSockets(
  servers: readonly Server[],
  { config, mediator, log, scheduler, env }: SocketAgent,
  { patienceMs = firstMessageMs, forwarding }: Options = {},
): () => void {
  if (!mediator) return () => undefined
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: config.DIDCOMM_MAX_RECEIVE_BYTES,
    perMessageDeflate: false,
  })
  const open = new Tally()
  const heartbeat = new Heartbeat()

  function findRefusal(request: IncomingMessage, address: string): Problem | undefined {
    const { MEDIATOR_SOCKETS: limit, MEDIATOR_SOCKETS_PER_ADDRESS: perAddress } = config
    const fault = findHeadFault(request)
    if (fault) return fault
    if (request.url?.split('?')[0] !== '/ws') return notFound()
    if (open.total >= limit) return full(limit)
    if (open.of(address) >= perAddress) return tooMany(perAddress)
    return undefined
  }

  // A function of its own: what it makes would otherwise keep the request.
  const accept = (socket: WebSocket, address: string) => {
    socket.on('error', (error) => log.debug({ reason: reasonOf(error) }, 'a WebSocket failed'))
    heartbeat.add(socket)
    listen({ mediator, log, scheduler }, socket, { address, patienceMs })
  }

  async function onUpgrade(server: Server, request: IncomingMessage, stream: Duplex, head: Buffer) {
    // Its end would not be noticed.
    if (stream.destroyed) return
    const address = addressOf(request, config.MEDIATOR_TRUST_PROXY)
    const refusal = findRefusal(request, address)
    if (refusal) return refuse(stream, refusal)
    open.add(address)
    stream.once('close', () => open.remove(address))
    countApart(server, stream as Socket)
    if (mediator!.isOwner())
      return sockets.handleUpgrade(request, stream, head, (socket) => accept(socket, address))
    const client = { walletId: mediatorId, address }
    const isForwardable = forwarding && !isForwarded(request)
    if (isForwardable && (await forwarding.upgrade(request, stream, head, client))) return
    refuse(stream, noOwner())
  }

  const listeners = servers.map((server) => {
    const listener = (...given: [IncomingMessage, Duplex, Buffer]) => void onUpgrade(server, ...given)
    server.on('upgrade', listener)
    return () => server.off('upgrade', listener)
  })
  env.ownership.onLoss((owns) => {
    if (!owns(mediatorId)) for (const socket of sockets.clients) socket.close(serviceRestart)
    return Promise.resolve()
  })
  return () => {
    for (const off of listeners) off()
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
  }
}

/** Processes the messages of a socket one after the other, and sends the answers on it. */
function listen(
  { mediator, log, scheduler }: Pick<Agent, 'log' | 'scheduler'> & { mediator: Mediator },
  socket: WebSocket,
  { address, patienceMs }: { address: string; patienceMs: number },
): void {
  const patience = setTimeout(() => socket.close(policyViolation, 'no valid message arrived'), patienceMs)
  const channel: Channel = {
    send(envelope) {
      if (socket.readyState === socket.OPEN && socket.bufferedAmount < maxBuffered) socket.send(envelope)
    },
  }
  let pending = 0
  let last = Promise.resolve()
  const receive = async (raw: Buffer) => {
    let slot: Slot | undefined
    try {
      slot = await scheduler.acquire(`address ${address}`)
      await mediator.countMessage(address)
      const envelope = parseEnvelope(raw)
      if (!mediator.owns(envelope.kids[0]!.split('#')[0]!)) return
      const answer = await mediator.receive(envelope, { address, channel })
      clearTimeout(patience)
      if (answer !== undefined) channel.send(answer)
    } catch (error) {
      if (error instanceof RateLimited) {
        socket.off('message', onMessage)
        socket.close(tryAgainLater, error.message)
      }
      log.info({ reason: reasonOf(error) }, 'a message from a WebSocket was refused')
    } finally {
      slot?.release()
      if (--pending === 0 && socket.isPaused) socket.resume()
    }
  }
  // With its default `binaryType`, ws passes one Buffer per message.
  const onMessage = (raw: Buffer) => {
    if (++pending >= maxPending) socket.pause()
    last = last.then(() => receive(raw))
  }
  socket.on('message', onMessage)
  socket.on('close', () => {
    clearTimeout(patience)
    mediator.closeChannel(channel)
  })
}
