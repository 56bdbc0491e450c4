/**
 * Forwards requests for wallets of other nodes to their owners, at most once. If a wallet has no owner now,
 * the request waits for the take-over: the time of a lease and one second. Then it gets 503 with
 * `Retry-After`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import type { Context, Middleware } from 'koa'
import { steadyNow } from '../../src/foundation/clock.ts'
import type { Ownership } from '../../src/cluster/ownership.ts'
import { NotOwnerError } from '../../src/foundation/storage/not-owner-error.ts'
import { isForwarded } from '../middleware/address.ts'
import { contextOf } from '../middleware/request-context.ts'
import { forwardUpgrade } from './forward-upgrade.ts'
import { createPeerAgent } from './connection.ts'
import { greetNode } from './greet.ts'
import { forwardedHeader, notOwnerHeader } from './listener.ts'
import { isSafe, type PeerRequest, sendToPeer } from './peer-request.ts'

/**
 * A body up to this size is read before it is sent, so that it can be sent again. A larger one is streamed
 * once.
 */
const bufferedBytes = 1_048_576

/** How long a wait for a new owner relies on being told. */
const lookMs = 250

/** How long a new connection to the owner may take. A busy node needs a while. */
const reachableMs = 10_000

/** Headers of one connection (RFC 9110 §7.6.1). */
const hopByHop = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|x-agent-.*)$/

export type ForwardingOptions = {
  ownership: Ownership
  /** The pre-shared key of the nodes. */
  key: Uint8Array
  /** The address of the listener of this node, which may become the owner while a request waits. */
  address: string
  leaseSeconds: number
}

export type Forwarding = {
  /**
   * The middleware of a port. `walletOf` tells the wallet of a request, if that is known before the request
   * is handled.
   */
  middleware(to: 'rest' | 'didcomm', walletOf: (ctx: Context) => WalletId | Promise<WalletId>): Middleware
  /** Forwards the handshake of a WebSocket. @returns false if there is no node to forward it to */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer, client: UpgradeClient): Promise<boolean>
  /**
   * Sends a GET request on to all other processes, and returns their successful responses. One that does not
   * answer is left out.
   */
  askOthers: (ctx: Context, signal: AbortSignal) => Promise<IncomingMessage[]>
  close(): void
}

/** The wallet that a WebSocket is for, and the address of its client. */
type UpgradeClient = { walletId: string; address: string }

type WalletId = string | undefined

export function createForwarding(options: ForwardingOptions): Forwarding {
  const { ownership, leaseSeconds } = options
  const agent = createPeerAgent(options.key)

  async function exchange(ctx: Context, walletId: string, request: PeerRequest): Promise<IncomingMessage> {
    const deadline = steadyNow() + (leaseSeconds + 1) * 1_000
    for (;;) {
      const peer = ownership.owns(walletId) ? options : await ownership.findOwner(walletId)
      const response = peer && (await attempt(ctx, walletId, peer.address, request))
      if (response) return response
      const leftMs = deadline - steadyNow()
      if (leftMs <= 0 || ctx.res.destroyed || !(request.body instanceof Buffer))
        throw new NotOwnerError(walletId)
      await changeOf(ownership, Math.min(leftMs, lookMs))
    }
  }

  async function attempt(ctx: Context, walletId: string, address: string, request: PeerRequest) {
    const ended = new AbortController()
    const abort = () => ended.abort()
    ctx.res.once('close', abort)
    // A node that is paused accepts connections and never answers. One that has given the wallet up still
    // answers its last requests.
    const remove = ownership.onChange(() => {
      void ownership.findOwner(walletId).then((owner) => {
        if ((ownership.owns(walletId) ? options : owner)?.address === address) return
        if (isSafe(request.method) || !isRunning(address)) abort()
      })
    })
    const unwatch = watchNode(address, abort)
    let response: IncomingMessage | undefined
    try {
      response = await sendToPeer(address, request, { agent, signal: ended.signal })
    } finally {
      unwatch()
      ctx.res.off('close', abort)
      // An event stream of a paused node would stay open without events. Its client connects again, to the
      // new owner.
      if (response && isEventStream(response)) response.once('close', remove)
      else remove()
    }
    return response
  }

  const isRunning = (address: string) =>
    [options, ...ownership.listOthers()].some((process) => process.address === address)

  /**
   * Calls `onLost` when a node that has not answered for the time of a lease does not answer a new connection
   * either. An answer may be slow.
   */
  function watchNode(address: string, onLost: () => void): () => void {
    const greet = () => void greetNode(options.key, address, reachableMs).catch(onLost)
    const timer = setInterval(greet, leaseSeconds * 1_000)
    return () => clearInterval(timer)
  }

  async function forward(to: 'rest' | 'didcomm', ctx: Context, walletId: string, body: Buffer | Readable) {
    const context = contextOf(ctx)
    context.route = `${ctx.method} (forwarded)`
    context.walletId = walletId
    const headers = headersFor(to, ctx)
    if (body instanceof Buffer) {
      delete headers['content-encoding']
      headers['content-length'] = String(body.length)
    }
    const request = { method: ctx.method, path: ctx.originalUrl, headers, body }
    reply(ctx, await exchange(ctx, walletId, request))
    // The owner may answer before it has read the body, whose rest would precede the next request on the
    // connection.
    ctx.req.unpipe()
    ctx.req.resume()
  }

  async function askOthers(ctx: Context, signal: AbortSignal): Promise<IncomingMessage[]> {
    const request = {
      method: 'GET',
      path: ctx.originalUrl,
      headers: headersFor('rest', ctx),
      body: Buffer.alloc(0),
    }
    const asked = ownership
      .listOthers()
      .map(({ address }) => sendToPeer(address, request, { agent, signal }).catch(() => undefined))
    const responses = (await Promise.all(asked)).filter((response) => response !== undefined)
    for (const response of responses) if (response.statusCode !== 200) response.resume()
    return responses.filter(({ statusCode }) => statusCode === 200)
  }

  return {
    middleware: (to, walletOf) => async (ctx, next) => {
      if (isForwarded(ctx.req)) return refuseUnowned(ctx, next)
      const walletId = await walletOf(ctx)
      if (walletId !== undefined && !ownership.owns(walletId))
        return forward(to, ctx, walletId, await readBody(ctx.req))
      try {
        await next()
      } catch (error) {
        if (!(error instanceof NotOwnerError)) throw error
        const body = await unreadBody(ctx)
        if (!body) throw error
        await forward(to, ctx, error.walletId, body)
      }
    },
    async upgrade(request, stream, head, { walletId, address: clientAddress }) {
      const peer = await ownership.findOwner(walletId)
      if (peer) forwardUpgrade(request, stream, head, { agent, address: peer.address, clientAddress })
      return peer !== undefined
    },
    askOthers,
    close: () => agent.destroy(),
  }
}

/** Handles a forwarded request, which is not forwarded again. */
async function refuseUnowned(ctx: Context, next: () => Promise<unknown>): Promise<void> {
  try {
    await next()
  } catch (error) {
    if (error instanceof NotOwnerError) ctx.set(notOwnerHeader, '1')
    throw error
  }
}

/** Resolves when the owners have changed, or after `timeoutMs`. */
async function changeOf(ownership: Ownership, timeoutMs: number): Promise<void> {
  const told = new AbortController()
  const remove = ownership.onChange(() => told.abort())
  await sleep(timeoutMs, undefined, { signal: told.signal }).catch(() => undefined)
  remove()
}

/** The body, if it is small. Otherwise the request itself, whose body is read later. */
async function readBody(request: IncomingMessage): Promise<Buffer | Readable> {
  const {
    'content-length': length,
    'transfer-encoding': coding,
    'content-encoding': encoding,
  } = request.headers
  if (length === undefined && coding === undefined) return Buffer.alloc(0)
  if (encoding !== undefined || !(Number(length) <= bufferedBytes)) return request
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** The body of a request that was partly handled. Undefined if it was read and not kept. */
async function unreadBody(ctx: Context): Promise<Buffer | Readable | undefined> {
  const { rawBody } = ctx.request as { rawBody?: string }
  if (rawBody !== undefined) return Buffer.from(rawBody)
  return ctx.req.readableDidRead ? undefined : readBody(ctx.req)
}

/** The headers for another node: those of the client, and what this node knows of it. */
function headersFor(to: 'rest' | 'didcomm', ctx: Context): OutgoingHttpHeaders {
  const { requestId, address } = contextOf(ctx)
  return {
    ...withoutHops(ctx.headers),
    'x-request-id': requestId,
    [forwardedHeader]: JSON.stringify({ to, address }),
  }
}

function withoutHops(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !hopByHop.test(name))
  return Object.fromEntries(kept) as Record<string, string | string[]>
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true
}

function reply(ctx: Context, response: IncomingMessage): void {
  const { statusCode: status = 502 } = response
  const isEmpty = ctx.method === 'HEAD' || status === 204 || status === 304
  if (isEmpty) response.resume()
  ctx.body = isEmpty ? null : response
  ctx.remove('Content-Type')
  ctx.status = status
  for (const [name, value] of Object.entries(withoutHops(response.headers))) ctx.set(name, value)
}
