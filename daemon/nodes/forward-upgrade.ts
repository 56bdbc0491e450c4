/** Forwards WebSockets to another node: the handshake, then the bytes of both directions. */
import { request as begin, type Agent } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { splitAddress } from './connection.ts'
import { forwardedHeader } from './listener.ts'

export type UpgradeTarget = { agent: Agent; address: string; clientAddress: string }

/** Destroys `stream` if the node refuses the handshake or cannot be reached. The client connects again. */
export function forwardUpgrade(
  { method, url, headers }: IncomingMessage,
  stream: Duplex,
  head: Buffer,
  { agent, address, clientAddress }: UpgradeTarget,
): void {
  const [host, port] = splitAddress(address)
  const details = JSON.stringify({ to: 'didcomm', address: clientAddress })
  const sent = begin({
    agent,
    host,
    port,
    method,
    path: url,
    headers: { ...headers, [forwardedHeader]: details },
  })
  const end = () => void stream.destroy()
  sent.once('response', (response) => {
    stream.write(`HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n`)
    stream.write(`${toLines(response.rawHeaders)}\r\n`)
    response.pipe(stream)
  })
  sent.once('error', end)
  stream.once('error', () => sent.destroy())
  sent.once('upgrade', (response, peer, first) => {
    const lines = toLines(response.rawHeaders)
    stream.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`)
    stream.write(first)
    peer.write(head)
    peer.once('error', end)
    peer.once('close', end)
    stream.once('close', () => peer.destroy())
    stream.pipe(peer).pipe(stream)
  })
  sent.end()
}

function toLines(rawHeaders: readonly string[]): string {
  let lines = ''
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines += `${rawHeaders[index]}: ${rawHeaders[index + 1]}\r\n`
  return lines
}
