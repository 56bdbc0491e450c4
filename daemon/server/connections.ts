/**
 * Connections to a server: how many there may be, of one address and in all, and how slow whoever is at the other end may be.
 *
 * A connection costs memory and a file, whoever opened it and whatever it is used for; so the limits hold before anything is read from it.
 */
import { randomUUID } from 'node:crypto'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../../src/base/problem.ts'
import { networkOf } from '../http/address.ts'
import { toBody } from '../middleware/problem.ts'

export type ConnectionLimits = {
  /** Connections at a time; of one address only where there is a number. */
  inAll: number
  ofAddress: number | undefined
  /** Milliseconds until the head of a request is there, until all of it is, and until the next one begins. */
  headersMs: number
  requestMs: number
  keepAliveMs: number
  /** Milliseconds in which nothing moves although there is something to move, and until an answer that is ready has been taken. */
  stallMs: number
  drainMs: number
  /** How often that is looked at, in milliseconds. */
  checkMs: number
}

/** The longest answer that is waited for is a minute (`wait`); 16 KiB of head are Node.js's own limit. */
export const usualLimits: ConnectionLimits = {
  inAll: 5_000,
  ofAddress: 1_000,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 65_000,
  stallMs: 120_000,
  drainMs: 300_000,
  checkMs: 2_000,
}

/** Requests of one connection that may wait for their answers; nobody who uses connections sensibly comes near. */
const pipelined = 100

/** How long a connection that is refused has to take its answer, and how many may do so at a time. */
const refusalMs = 1_000
const refusalsAtOnce = 100

/** Holds a new server to the limits, `limits.inAll` and the others. */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const open = new Map<string, number>()
  let [count, refusals] = [0, 0]
  // What Node.js does with a connection, which is done with those that are taken only.
  const takers = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket) => {
    const address = networkOf(socket.remoteAddress ?? '')
    const problem = findProblem(open.get(address) ?? 0)
    if (problem) return refuse(socket, problem)
    count++
    open.set(address, (open.get(address) ?? 0) + 1)
    socket.once('close', () => {
      count--
      const left = open.get(address)! - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
    for (const take of takers) take.call(server, socket)
  })

  function findProblem(ofAddress: number): Problem | undefined {
    if (limits.ofAddress !== undefined && ofAddress >= limits.ofAddress)
      return new Problem(
        'TooManyRequests',
        `Your address has ${limits.ofAddress} connections open. Use them again, or close some.`,
        {
          retryAfter: 1,
        },
      )
    if (count < limits.inAll) return undefined
    // Whoever uses a connection goes before whoever keeps one.
    if (refusals === 0) server.closeIdleConnections()
    return new Problem(
      'error:ServiceUnavailable',
      'The agent has as many connections open as it may. Come again in a second.',
      {
        retryAfter: 1,
      },
    )
  }

  function refuse(socket: Socket, problem: Problem): void {
    socket.on('error', () => socket.destroy())
    if (refusals >= refusalsAtOnce) return void socket.destroy()
    refusals++
    const patience = setTimeout(() => socket.destroy(), refusalMs)
    socket.once('close', () => {
      clearTimeout(patience)
      refusals--
    })
    socket.resume()
    socket.end(toAnswer(problem))
  }

  watchRequests(server)
  watchAnswers(server, limits)
  endAnswers(server)
}

/** Says what is wrong with what is no request, or not one in time; and counts what one connection asks for at once. */
function watchRequests(server: Server): void {
  const asked = new WeakMap<Socket, number>()
  const answering = new WeakMap<object, ServerResponse>()
  server.prependListener('request', ({ socket }, response) => {
    answering.set(socket, response)
    const now = (asked.get(socket) ?? 0) + 1
    asked.set(socket, now)
    response.once('close', () => asked.set(socket, asked.get(socket)! - 1))
    if (now > pipelined) socket.destroy()
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const problem = toProblem(error.code ?? '')
    // Half an answer is on its way: a second one would be taken for the rest of it.
    const isAnswered = answering.get(socket)?.headersSent === true && !answering.get(socket)!.writableFinished
    if (problem && socket.writable && !isAnswered) socket.write(toAnswer(problem))
    socket.destroy()
  })
}

/** Cuts off whoever does not take an answer that is ready. */
function watchAnswers(server: Server, { drainMs, checkMs }: ConnectionLimits): void {
  const open = new Set<ServerResponse>()
  const readySince = new WeakMap<ServerResponse, number>()
  server.prependListener('request', (_request, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
  })
  const check = setInterval(() => {
    const now = performance.now()
    for (const response of open) {
      if (!response.writableEnded) continue
      const since = readySince.get(response) ?? now
      readySince.set(response, since)
      if (now - since >= drainMs) response.socket?.destroy()
    }
  }, checkMs)
  check.unref()
  server.once('close', () => clearInterval(check))
}

/**
 * Tells every answer that its connection is gone. Node.js tells the one that is being sent alone: those that wait behind it, of requests that
 * were sent at once, would be made, and kept, for nobody.
 */
function endAnswers(server: Server): void {
  const open = new WeakMap<Socket, Set<ServerResponse>>()
  server.prependListener('request', ({ socket }, response) => {
    const answers = open.get(socket) ?? new Set()
    if (!open.has(socket)) {
      open.set(socket, answers)
      socket.once('close', () =>
        setImmediate(() => answers.forEach((answer) => answer.destroy().emit('close'))),
      )
    }
    answers.add(response)
    response.once('close', () => answers.delete(response))
  })
}

function toProblem(code: string): Problem | undefined {
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem(
      'error:RequestHeaderFieldsTooLarge',
      'The address and the headers of the request have more than 16384 bytes. Make them shorter.',
    )
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem('error:RequestTimeout', 'The request did not arrive in time. Send all of it at once.')
  return new Problem('BadRequest', 'This is no HTTP/1.1 request that can be understood.')
}

/** A problem as the whole answer of a connection that ends with it. */
function toAnswer(problem: Problem): string {
  const body = JSON.stringify(toBody(problem, randomUUID()))
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    'Connection: close',
    'Cache-Control: no-store',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(problem.retryAfter === undefined ? [] : [`Retry-After: ${problem.retryAfter}`]),
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
