/** Limits of WebSockets, which count apart from other connections of the port, and their heartbeat. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { Heartbeat } from '../../../daemon/server/heartbeat.ts'
import { startAgent } from '../../support/agent.ts'
import { newWallet } from './_mediator.ts'
import { openSocket } from './_socket.ts'

const start = (variables: Record<string, string>) => startAgent({ AGENT_MEDIATOR: 'true', ...variables })

/** Asks over a connection of its own. */
const ask = (url: string) => fetch(`${url}/did`, { headers: { connection: 'close' } })

/** The response to a refused handshake. */
async function refusedAt(url: string) {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  }
  const sent = request(`${url}/ws`, { headers }).end()
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer> & { headers: object }]
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return { headers: response.headers, body: JSON.parse(text) as Record<string, unknown> }
}

/** Opens connections without a request. Returns whether the server closed the last one. */
async function isRefused(url: string, count: number): Promise<boolean> {
  const { port, hostname } = new URL(url)
  const sockets: Socket[] = []
  for (let n = 0; n < count; n++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    sockets.push(socket)
  }
  const last = sockets.at(-1)!
  last.write('GET /did HTTP/1.1\r\nHost: localhost\r\n\r\n')
  // `once` of node:events would fail with the connection.
  const outcome = await new Promise<boolean>((resolve) => {
    last.once('data', () => resolve(false))
    last.once('close', () => resolve(true))
  })
  for (const socket of sockets) socket.destroy()
  return outcome
}

test('WebSockets take no room of other connections, which keep their own limit', async () => {
  await using host = await start({ AGENT_CONNECTIONS: '3', MEDIATOR_SOCKETS: '5' })
  const sockets = []
  for (let n = 0; n < 5; n++) sockets.push(await openSocket(host.didcommUrl, newWallet()))
  expect((await ask(host.didcommUrl)).status).toBe(200)
  expect(await vi.waitFor(() => isRefused(host.didcommUrl, 4))).toBe(true)
  for (const socket of sockets) socket[Symbol.dispose]()
  // The room of closed sockets is not that of connections either.
  await expect
    .poll(() =>
      ask(host.didcommUrl).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
  expect(await isRefused(host.didcommUrl, 4)).toBe(true)
})

test('above MEDIATOR_SOCKETS a handshake gets 503 with the limit, and closing one makes room', async () => {
  await using host = await start({ MEDIATOR_SOCKETS: '1' })
  const socket = await openSocket(host.didcommUrl, newWallet())
  const { headers, body } = await refusedAt(host.didcommUrl)
  expect(body).toMatchObject({ status: 503, detail: expect.stringContaining('1 open WebSockets') })
  expect(headers).toMatchObject({ 'retry-after': '30', 'content-type': 'application/json' })
  socket[Symbol.dispose]()
  const next = await vi.waitFor(() => openSocket(host.didcommUrl, newWallet()), 60_000)
  next[Symbol.dispose]()
})

test('WebSockets of an address have a limit of their own, and its other connections keep theirs', async () => {
  await using host = await start({ AGENT_CONNECTIONS_PER_ADDRESS: '2', MEDIATOR_SOCKETS_PER_ADDRESS: '4' })
  const sockets = []
  for (let n = 0; n < 4; n++) sockets.push(await openSocket(host.didcommUrl, newWallet()))
  const { body } = await refusedAt(host.didcommUrl)
  expect(body).toMatchObject({ status: 429, detail: expect.stringContaining('MEDIATOR_SOCKETS_PER_ADDRESS') })
  await expect
    .poll(() =>
      ask(host.didcommUrl).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
  expect(await vi.waitFor(() => isRefused(host.didcommUrl, 3))).toBe(true)
  for (const socket of sockets) socket[Symbol.dispose]()
})

test('each turn pings a part of the sockets; one that does not answer is closed within two periods', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new WebSocketServer({ server })
  // The test makes the turns.
  vi.useFakeTimers({ toFake: ['setInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const heartbeat = new Heartbeat()
  const { port } = server.address() as { port: number }
  const clients: WebSocket[] = []
  let pings = 0
  for (let n = 0; n < 60; n++) {
    const client = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong: n > 0 })
    client.on('ping', () => pings++)
    clients.push(client)
    const opened = once(client, 'open')
    const [accepted] = (await once(sockets, 'connection')) as [WebSocket]
    heartbeat.add(accepted)
    await opened
  }
  const isOpen = (client: WebSocket) => client.readyState === WebSocket.OPEN
  /** Resolves when all pings and their answers have arrived. */
  const settle = async () => {
    const open = clients.filter(isOpen)
    const heard = open.map((client) => once(client, 'message'))
    for (const socket of sockets.clients) socket.send('here')
    await Promise.all(heard)
    const answered = [...sockets.clients].map((socket) => once(socket, 'message'))
    for (const client of open) client.send('here')
    await Promise.all(answered)
  }
  const perTurn: number[] = []
  for (let turn = 0; turn < 30; turn++) {
    heartbeat.beat()
    await settle()
    perTurn.push(pings)
    pings = 0
  }
  expect(perTurn).toEqual(Array(30).fill(2))
  const closed = once(clients[0]!, 'close')
  heartbeat.beat()
  await closed
  for (let turn = 0; turn < 30; turn++) {
    heartbeat.beat()
    await settle()
  }
  expect(clients.filter(isOpen)).toHaveLength(59)
  for (const client of clients) client.terminate()
  sockets.close()
  server.close()
})
