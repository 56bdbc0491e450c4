/** Refusals of handshakes, by the problems that requests get too. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Problem } from '../../src/foundation/problem.ts'
import { toBody } from '../middleware/problem.ts'

/** Refuses a handshake and closes the connection, which may be closed already. */
export function refuse(stream: Duplex, problem: Problem): void {
  const { status, retryAfter } = problem
  const body = JSON.stringify(toBody(problem, randomUUID()))
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
  ]
  stream.on('error', () => stream.destroy())
  stream.once('finish', () => stream.destroy())
  stream.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
