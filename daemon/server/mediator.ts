/**
 * The mediator role on the DIDComm port, like the Identus mediator: `POST /` for messages to its DID, `GET
 * /did`, `/invitation` and `/invitationOOB`, and the WebSocket `/ws`. Without the role, none of them exists.
 */
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Context, Middleware } from 'koa'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Agent } from '../../src/agent/agent.ts'
import { randomId } from '../../src/foundation/id.ts'
import { reasonOf } from '../../src/foundation/reason.ts'
import type { Slot } from '../../src/foundation/scheduler.ts'
import { encryptedType, parseEnvelope, type Envelope } from '../../src/exchange/didcomm/jwe.ts'
import { createInvitation, toInvitationUrl } from '../../src/exchange/didcomm/invitation.ts'
import type { Channel } from '../../src/exchange/mediator/pickup.ts'
import type { Mediator } from '../../src/exchange/mediator/mediator.ts'
import { RateLimited } from '../../src/exchange/mediator/handler.ts'
import { mediatorId } from '../../src/cluster/ownership.ts'
import { addressOf, isForwarded } from '../middleware/address.ts'
import { findHeadFault } from '../middleware/head.ts'
import type { Forwarding } from '../nodes/forward.ts'

/** Open WebSockets in total. */
const maxSockets = 1_000
/** Waiting messages of one socket, above which it is not read further. */
const maxPending = 8
/** Unsent bytes of a socket. Further messages stay in the queue until they are requested. */
const maxBuffered = 4_194_304
/** The interval of pings, each of which must be answered before the next one. */
const heartbeatMs = 30_000
/** The time until the first valid message of a new socket. */
const firstMessageMs = 10_000
/** Close codes (RFC 6455 §7.4.1, IANA WebSocket Close Code Number Registry). */
const [policyViolation, serviceRestart, tryAgainLater] = [1008, 1012, 1013]

/**
 * Answers a message to the mediator's DID: 200 with the packed answer, 202 when there is none or it is sent
 * separately.
 *
 * @throws {Problem} 429 with `Retry-After` when the address sends too many messages, and the mediator's
 * refusals.
 */
export async function receiveForMediator(
  mediator: Mediator,
  context: Context,
  envelope: Envelope,
  address: string,
): Promise<void> {
  const receive = async () => {
    await mediator.countMessage(address)
    return mediator.receive(envelope, { address })
  }
  const answer = await receive().catch((error: unknown) => {
    if (error instanceof RateLimited) context.set('Retry-After', String(error.waitSeconds))
    throw error
  })
  context.body = answer ?? ''
  context.status = answer === undefined ? 202 : 200
  if (answer !== undefined) context.set('Content-Type', encryptedType)
}

/** The pages of the mediator, with CORS headers for wallets in browsers of any origin. */
export function mediatorPages(mediator: Mediator): Middleware {
  const invitation = () =>
    createInvitation({
      id: randomId(),
      from: mediator.did,
      goalCode: 'request-mediate',
      goal: 'RequestMediate',
      accept: ['didcomm/v2'],
    })
  const pages: Readonly<Record<string, () => string | object>> = {
    '/did': () => mediator.did,
    '/invitation': invitation,
    '/invitationOOB': () => toInvitationUrl(mediator.url, invitation()),
  }
  return async (context, next) => {
    const page = Object.hasOwn(pages, context.path) ? pages[context.path] : undefined
    if (context.path === '/' || page) {
      context.set({ 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' })
    }
    if (context.method === 'OPTIONS' && (context.path === '/' || page)) {
      context.set({
        'Access-Control-Allow-Methods': 'GET, POST',
        'Access-Control-Allow-Headers': 'Content-Type',
      })
      context.status = 204
    } else if (context.method === 'GET' && page) context.body = page()
    else await next()
  }
}

type SocketAgent = Pick<Agent, 'config' | 'mediator' | 'log' | 'scheduler'> & {
  env: Pick<Agent['env'], 'ownership'>
}

/**
 * Accepts WebSockets at `/ws` of servers, if the agent is a mediator, until the returned function is called.
 *
 * @param patienceMs the time until the first valid message of a new socket.
 */
export function serveSockets(
  servers: readonly Server[],
  { config, mediator, log, scheduler, env }: SocketAgent,
  {
    patienceMs = firstMessageMs,
    forwarding,
  }: { patienceMs?: number; forwarding?: Forwarding | undefined } = {},
): () => void {
  if (!mediator) return () => undefined
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: config.DIDCOMM_MAX_RECEIVE_BYTES,
    perMessageDeflate: false,
  })
  const silent = new WeakSet<WebSocket>()
  const open = new Map<string, number>()
  const onUpgrade = async (...[request, stream, head]: Parameters<WebSocketServer['handleUpgrade']>) => {
    if (findHeadFault(request)) return refuse(stream, '400 Bad Request')
    if (request.url?.split('?')[0] !== '/ws') return refuse(stream, '404 Not Found')
    if (sockets.clients.size >= maxSockets) return refuse(stream, '503 Service Unavailable')
    const address = addressOf(request, config.MEDIATOR_TRUST_PROXY)
    if (!mediator.isOwner()) {
      const isForwardable = forwarding && !isForwarded(request)
      const client = { walletId: mediatorId, address }
      if (isForwardable && (await forwarding.upgrade(request, stream, head, client))) return
      return refuse(stream, '503 Service Unavailable')
    }
    if ((open.get(address) ?? 0) >= config.MEDIATOR_SOCKETS_PER_ADDRESS)
      return refuse(stream, '429 Too Many Requests')
    sockets.handleUpgrade(request, stream, head, (socket) => {
      open.set(address, (open.get(address) ?? 0) + 1)
      socket.on('close', () => {
        const left = open.get(address)! - 1
        if (left > 0) open.set(address, left)
        else open.delete(address)
      })
      socket.on('pong', () => silent.delete(socket))
      socket.on('error', (error) => log.debug({ reason: reasonOf(error) }, 'a WebSocket failed'))
      listen({ mediator, log, scheduler }, socket, { address, patienceMs })
    })
  }
  const heartbeat = setInterval(() => {
    for (const socket of sockets.clients) {
      if (silent.has(socket)) socket.terminate()
      silent.add(socket)
      socket.ping()
    }
  }, heartbeatMs)
  heartbeat.unref()
  const listener = (...given: Parameters<typeof onUpgrade>) => void onUpgrade(...given)
  for (const server of servers) server.on('upgrade', listener)
  env.ownership.onLoss((owns) => {
    if (!owns(mediatorId)) for (const socket of sockets.clients) socket.close(serviceRestart)
    return Promise.resolve()
  })
  return () => {
    clearInterval(heartbeat)
    for (const server of servers) server.off('upgrade', listener)
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

/** Refuses a handshake and closes the connection, which may be closed already. */
function refuse(stream: Duplex, status: string): void {
  stream.on('error', () => stream.destroy())
  stream.once('finish', () => stream.destroy())
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
