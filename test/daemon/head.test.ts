/** Limits of request headers on both ports: one `Host`, and at most 200 headers. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { untilEnd } from '../support/shared.ts'

const agent = await untilEnd(startAgent({ AGENT_MEDIATOR: 'true' }))

const endpoints = {
  'the HTTP API': () => [agent.url, '/_system/health'] as const,
  'the DIDComm endpoint': () => [agent.didcommUrl, '/did'] as const,
}
const names = Object.keys(endpoints) as (keyof typeof endpoints)[]

/** Sends a request with the given raw headers. Returns the status, and the type of a problem. */
async function send(url: string, path: string, headers: readonly string[]) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined)
  socket.end([`GET ${path} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'))
  await once(socket, 'close')
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), type: /"type":"([^"]+)"/.exec(body)?.[1] }
}

const fill = (count: number) => Array.from({ length: count }, (_, index) => `${'abcdefghij'[index % 10]}:`)

test.each(names)('%s refuses two Host headers, equal or not, in any case and position', async (name) => {
  const [url, path] = endpoints[name]()
  for (const hosts of [
    ['Host: localhost', 'Host: localhost'],
    ['Host: localhost', 'hOST: evil.example'],
    ['Host: evil.example', 'Host: localhost'],
    ['Host: localhost', ...fill(190), 'host:'],
  ])
    expect(await send(url, path, hosts)).toEqual({ status: 400, type: 'BadRequest' })
  expect(await send(url, path, ['Host: localhost', 'X-Host: other', 'Value: host'])).toMatchObject({
    status: 200,
  })
})

test.each(names)('%s refuses more than 200 headers of any size', async (name) => {
  const [url, path] = endpoints[name]()
  // `Connection` and `Host` are two of them.
  expect((await send(url, path, ['Host: localhost', ...fill(198)])).status).toBe(200)
  for (const count of [199, 3_000, 10_000])
    expect(await send(url, path, ['Host: localhost', ...fill(count)])).toEqual({
      status: 431,
      type: 'error:RequestHeaderFieldsTooLarge',
    })
})

test('a WebSocket request with two Host headers is refused', async () => {
  const upgrade = [
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  expect(
    (await send(agent.didcommUrl, '/ws', ['Host: localhost', 'Host: localhost', ...upgrade])).status,
  ).toBe(400)
})
