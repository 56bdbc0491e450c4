/**
 * A webhook receiver for development: verifies signatures, can fail or answer slowly on purpose, and can
 * forward events.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { systemReason } from '../src/foundation/system-reason.ts'
import type { Event } from './client/events.ts'
import { CommandError, UsageError } from './errors/errors.ts'

/** The time limit of a forwarded request. It is shorter than that of the daemon. */
const forwardTimeoutMs = 4_000

/** Headers that are forwarded: the content type and the signature. */
const forwarded = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature', 'authorization']

type ReceiverOptions = {
  /** 0 takes a free one. */
  port: number
  /** The share of events to refuse, from 0 to 1. */
  failRate: number
  slowMs: number
  forwardTo: string | undefined
  /** Called for every event with the status of the answer; `note` is the reason of a refusal. */
  onEvent: (event: Event, status: number, note: string | undefined) => void
  /** Called for every request that is not the daemon's, with the reason. Any page of a browser can send some. */
  onForgery: (reason: string) => void
  signal: AbortSignal
}

export type Receiver = {
  url: string
  /** Sets the secret that events must be signed with. Requests wait for it. */
  expectSignature: (secret: string) => void
  close: () => void
}

/** Opens a receiver on the loopback interface. @throws {CommandError} when the port is in use. */
export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  let expectSignature!: (secret: string) => void
  const secret = new Promise<string>((resolve) => (expectSignature = resolve))
  const server = createServer((request, response) => {
    receive(request, secret, options).then(
      (status) => response.writeHead(status).end(),
      () => response.writeHead(400).end(),
    )
  })
  server.listen(options.port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      `Port ${options.port} cannot be opened: ${systemReason(error)}. Omit --port to use a free port.`,
      5,
    )
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    expectSignature,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function receive(
  request: IncomingMessage,
  secret: Promise<string>,
  options: ReceiverOptions,
): Promise<number> {
  const body = await text(request)
  const { headers } = request
  const forgery = findForgery(await secret, headers, body, Date.now())
  if (forgery !== undefined) {
    options.onForgery(forgery)
    return 401
  }
  const { status, note } = await judge(headers, body, options)
  options.onEvent(JSON.parse(body) as Event, status, note)
  return status
}

async function judge(
  headers: IncomingHttpHeaders,
  body: string,
  { failRate, slowMs, forwardTo, signal }: ReceiverOptions,
): Promise<{ status: number; note?: string }> {
  await setTimeout(slowMs, undefined, { signal })
  if (Math.random() < failRate) return { status: 500, note: 'on purpose' }
  return forwardTo === undefined ? { status: 200 } : forward(forwardTo, headers, body)
}

/** Forwards an event. A refusal is passed on, so that the daemon delivers the event again. */
async function forward(
  url: string,
  headers: IncomingHttpHeaders,
  body: string,
): Promise<{ status: number; note?: string }> {
  const own = Object.fromEntries(
    forwarded.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  )
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: own,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(forwardTimeoutMs),
    })
    await answer.body?.cancel()
    return answer.ok ? { status: 200 } : { status: 502, note: `${url} answered ${answer.status}` }
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    return { status: 502, note: `${url} did not answer (${cause?.code ?? message})` }
  }
}

/** Reads a rate such as 0.3. @throws {UsageError} */
export function readRate(flag: string, given: string): number {
  const rate = /^(\d+(\.\d+)?|\.\d+)$/.test(given) ? Number(given) : NaN
  if (rate >= 0 && rate <= 1) return rate
  throw new UsageError(`--${flag} ${JSON.stringify(given)} is not a rate from 0 to 1, such as 0.3.`)
}

/**
 * The tolerance between the time of an attempt and the local clock, in seconds. Older attempts may be
 * replays.
 */
const toleranceSeconds = 300

/**
 * Verifies a signature (Standard Webhooks 1.0). `now` is in milliseconds. Returns the fault; undefined when
 * the signature is valid.
 */
function findForgery(
  secret: string,
  headers: IncomingHttpHeaders,
  body: string,
  now: number,
): string | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'it is not signed'
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= toleranceSeconds))
    return 'its timestamp is outside the tolerance'
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  const isRight = signatures.split(' ').some((given) => {
    const bytes = Buffer.from(given)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
  return isRight ? undefined : 'its signature is wrong'
}
