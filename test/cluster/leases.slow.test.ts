/** Leases over a real PostgreSQL: nodes take, renew, give up and take over shards. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { createLog } from '../../src/foundation/log.ts'
import { Leases } from '../../src/cluster/leases.ts'
import { ownersChannel } from '../../src/cluster/lease-table.ts'
import { listen } from '../../src/cluster/notifications.ts'
import { openPostgres } from '../../src/foundation/storage/postgres/open.ts'
import { openWallet } from '../../src/foundation/storage/postgres/databases.ts'
import { NotOwnerError } from '../../src/foundation/storage/not-owner-error.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import { startPostgres, type Server } from '../support/postgres.ts'
import { openServer } from '../support/shared-postgres.ts'
import { until as untilFits } from '../support/tenants.ts'

needsPostgres()

/** Waits until `ask` gives something. */
async function until<Value>(what: string, ask: () => Value | Promise<Value>): Promise<NonNullable<Value>> {
  const found = await untilFits(
    what,
    async () => ask(),
    (value) => value !== undefined && value !== false,
  )
  return found as NonNullable<Value>
}

const log = createLog('silent', { write: () => undefined })
const leaseSeconds = 1

let server: Server
beforeAll(async () => void (server = await openServer()))

type Node = Leases & AsyncDisposable & { connections: Awaited<ReturnType<typeof openPostgres>> }

/** Starts a node. Disposing of it is a crash: its rows stay. */
async function startNode(url: string, name: string, seconds = leaseSeconds): Promise<Node> {
  const connections = await openPostgres({ url, connections: 8, nodeName: name })
  const options = { connections, name, address: `127.0.0.1:${name.length}`, release: '0.0.0', log }
  try {
    const leases = await Leases.open({ ...options, leaseSeconds: seconds })
    const refresh = () => leases.refresh()
    const stopListening = listen({
      connections,
      log,
      channels: { [ownersChannel]: refresh },
      onConnect: refresh,
      onDelivery: () => undefined,
    })
    return Object.assign(leases, {
      connections,
      async [Symbol.asyncDispose]() {
        // Nothing reaches the database any more, as after a kill.
        await connections.close()
        await leases.close()
        await stopListening()
      },
    })
  } catch (error) {
    await connections.close()
    throw error
  }
}

const sharesOf = async (node: Leases) =>
  Object.fromEntries((await node.list()).map(({ name, shards }) => [name, shards]))

const untilShares = (node: Leases, shares: Record<string, number>) =>
  until(`shares ${JSON.stringify(shares)}`, async () => {
    const found = await sharesOf(node)
    return JSON.stringify(found) === JSON.stringify(shares) ? found : undefined
  })

/** Ids of wallets of different shards. */
const wallets = Array.from({ length: 40 }, () => crypto.randomUUID())

test('nodes share the shards; a wallet has exactly one owner, which the others find', async () => {
  const url = await server.createDatabase()
  await using a = await startNode(url, 'a')
  expect(await sharesOf(a)).toEqual({ a: 256 })
  await using b = await startNode(url, 'b')
  await using c = await startNode(url, 'c')
  const shares = await until('equal shares', async () => {
    const found = await sharesOf(c)
    return Object.values(found).every((share) => share === 85 || share === 86) ? found : undefined
  })
  expect(Object.keys(shares)).toEqual(['a', 'b', 'c'])
  await until('owners', () =>
    Promise.resolve(wallets.every((id) => [a, b, c].filter((node) => node.owns(id)).length === 1)),
  )
  for (const id of wallets) {
    const owner = [a, b, c].find((node) => node.owns(id))!
    for (const node of [a, b, c])
      await until('the owner is known', async () => {
        const found = await node.findOwner(id)
        return found?.name === (node === owner ? undefined : owner.name)
      })
  }
})

test('the others take the shards of a node that has ended, when its lease has ended', async () => {
  const url = await server.createDatabase()
  await using a = await startNode(url, 'a')
  const b = await startNode(url, 'b')
  await untilShares(a, { a: 128, b: 128 })
  const gained: string[] = []
  a.onGain((owns) => void gained.push(...wallets.filter(owns)))
  await b[Symbol.asyncDispose]()
  await until('take-over', () => wallets.every((id) => a.owns(id)))
  expect(new Set(gained)).toEqual(new Set(wallets))
  expect(await a.listRunning()).toEqual(['a'])
})

test('a node that stops gives its shards up at once, after its wallets are closed', async () => {
  const url = await server.createDatabase()
  await using a = await startNode(url, 'a', 60)
  await using b = await startNode(url, 'b', 60)
  await untilShares(a, { a: 128, b: 128 })
  const steps: string[] = []
  b.onLoss(async (owns) => {
    expect(wallets.filter(owns)).toEqual([])
    await sleep(50)
    steps.push('closed')
  })
  a.onGain(() => void steps.push('gained'))
  // The other node may know its shares first.
  await until('b owns wallets', () => wallets.some((id) => b.owns(id)))
  const held = wallets.find((id) => b.owns(id))!
  const stopped = b.drain().then(() => b.close())
  await until('b does not use the wallet any more', () => !b.owns(held))
  await stopped
  await until('take-over', () => a.owns(held))
  expect(steps[0]).toBe('closed')
  expect(await sharesOf(a)).toEqual({ a: 256 })
})

test('a node that is drained keeps running without shards, and gets them again', async () => {
  const url = await server.createDatabase()
  await using a = await startNode(url, 'a', 60)
  await using b = await startNode(url, 'b', 60)
  await untilShares(a, { a: 128, b: 128 })
  expect(await a.setDraining('b', true)).toBe(true)
  await untilShares(a, { a: 256, b: 0 })
  expect(b.isDraining()).toBe(true)
  expect(await a.setDraining('b', false)).toBe(true)
  await untilShares(a, { a: 128, b: 128 })
  expect(await a.setDraining('unknown', true)).toBe(false)
})

test('a second node with the name of a running one is refused, and replaces one that has ended', async () => {
  const url = await server.createDatabase()
  const a = await startNode(url, 'a')
  await expect(startNode(url, 'a')).rejects.toThrow(
    'A node with the name a runs at 127.0.0.1:1. Set AGENT_NODE_NAME to another name, or stop that node.',
  )
  await a[Symbol.asyncDispose]()
  await using again = await startNode(url, 'a')
  expect(wallets.every((id) => again.owns(id))).toBe(true)
})

test('a node that is cut off from the database stops to use its wallets, and goes on after', async () => {
  const url = await server.createDatabase()
  await using cable = await openCable(server.port)
  await using a = await startNode(url.replace(`:${server.port}/`, `:${cable.port}/`), 'a')
  const lost: string[] = []
  a.onLoss((owns) => Promise.resolve(void lost.push(...wallets.filter((id) => !owns(id)))))
  const id = wallets[0]!
  const old = a.claimOf(id)
  cable.cut()
  await until('the lease ends', () => !a.owns(id))
  expect(() => a.claimOf(id)).toThrow(NotOwnerError)
  await using b = await startNode(url, 'b')
  await until('take-over', () => b.owns(id))
  cable.mend()
  await until('equal shares', async () => (await sharesOf(b))['a'] === 128)
  await until('a uses wallets again', () => wallets.some((each) => a.owns(each)))
  expect(new Set(lost)).toEqual(new Set(wallets))
  const late = openWallet(a.connections, id, () => old)
    .insertInto('setting')
    .values({ name: 'x', value: 'y' })
  await expect(late.execute()).rejects.toThrow(NotOwnerError)
})

test('a restart of the database interrupts and loses nothing', async () => {
  await using own = await startPostgres()
  await using a = await startNode(await own.createDatabase(), 'a')
  await own.kill()
  await until('the lease ends', () => !a.isHeld())
  await own.start()
  await until('a uses its wallets again', () => wallets.every((id) => a.owns(id)))
  await expect(
    openWallet(a.connections, wallets[0]!, () => a.claimOf(wallets[0]!))
      .selectFrom('setting')
      .selectAll()
      .execute(),
  ).resolves.toEqual([])
})

/** A TCP connection to the server that can be cut: nothing arrives any more, and no connection ends. */
async function openCable(target: number) {
  let isCut = false
  const sockets = new Set<Socket>()
  const listener = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => void (isCut || to.write(bytes)))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    cut: () => void (isCut = true),
    mend() {
      isCut = false
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}
