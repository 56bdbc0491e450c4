/**
 * `agent doctor` over PostgreSQL: of running nodes, and of the database without one. Faults are made by the
 * superuser of a real server.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../../src/foundation/config/config.ts'
import { judgeConnections } from '../../../src/operations/doctor/database-connections.ts'
import { diagnoseDataFolder } from '../../../src/operations/doctor/diagnose.ts'
import { Daemon } from '../../support/daemon.ts'
import { newFolder } from '../../support/folder.ts'
import { needsPostgres } from '../../support/needs-postgres.ts'
import { openLink } from '../../cluster/_link.ts'
import { startPostgres, type Postgres } from '../../support/postgres.ts'
import { openServer } from '../../support/shared-postgres.ts'
import { until } from '../../support/tenants.ts'

needsPostgres()

const AGENT_MASTER_KEY = Buffer.alloc(32, 7).toString('base64url')

let server: Postgres
let url: string
let nodes: Daemon[]

beforeAll(async () => {
  // Its settings are those of an installation: what was acknowledged survives a crash.
  server = await startPostgres(['max_connections=60'])
  url = await server.createDatabase()
  nodes = []
  for (const name of ['a', 'b'])
    nodes.push(
      await Daemon.start({
        AGENT_DATABASE_URL: url,
        AGENT_NODE_NAME: name,
        AGENT_LEASE_SECONDS: '2',
        AGENT_MASTER_KEY,
      }),
    )
})

afterAll(async () => {
  await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()))
  await server[Symbol.asyncDispose]()
})

const asSuperuser = (statements: string) => server.asSuperuser(new URL(url).pathname.slice(1), statements)

type Checks = Record<string, { status: string; detail: string; hint?: string | undefined }>

/** The checks of a running node. */
async function checksOf(node: Daemon, deep = false): Promise<Checks> {
  const { checks } = await node.admin('GET /_system/doctor', { query: { deep: deep ? 'true' : 'false' } })
  return Object.fromEntries(checks.map(({ name, ...finding }) => [name, finding]))
}

/** The checks without a running node. */
async function checksAtRest(database: string, isDeep = false): Promise<Checks> {
  const config = readConfig({
    AGENT_DATA_DIR: join(newFolder(), 'data'),
    AGENT_DATABASE_URL: database,
    AGENT_HTTP_PORT: '0',
    AGENT_DIDCOMM_PORT: '0',
    AGENT_MASTER_KEY,
  })
  const { checks } = await diagnoseDataFolder(config, isDeep)
  return Object.fromEntries(checks.map(({ name, ...finding }) => [name, finding]))
}

test('intact nodes have no failures, and each examines the wallets that it owns', async () => {
  await until(
    'both nodes own shards',
    async () => (await asSuperuser('select distinct node from shard where node is not null')).rowCount,
    (owners) => owners === 2,
  )
  const tenants = ['first', 'second', 'third'].map((name, index) => nodes[index % 2]!.newTenant(name))
  await Promise.all(tenants)
  // On a busy machine, a lease of two seconds may end meanwhile.
  const all = await until(
    'intact nodes',
    () => Promise.all(nodes.map((node) => checksOf(node, true))),
    (found) =>
      found.every((checks) => Object.values(checks).every(({ status }) => status !== 'failed')) &&
      found.every((checks) => checks['nodes']!.detail.includes('b has 128')),
  )
  for (const checks of all) {
    expect(Object.entries(checks).filter(([, { status }]) => status === 'failed')).toEqual([])
    expect(checks).not.toHaveProperty('databases')
    expect(checks['database']!.detail).toMatch(
      /^PostgreSQL \S+.* at 127\.0\.0\.1:\d+\/\w+ answered in \d+ \w+\. Row-level security separates the wallets in 32 tables\.$/,
    )
    expect(checks['connections']).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^2 nodes make up to 42 connections .* Notifications arrive\.$/),
    })
    expect(checks['nodes']).toMatchObject({
      status: 'ok',
      detail: '2 nodes run: a has 128 of 256 shards, b has 128 of 256 shards.',
    })
    expect(checks['clock']!.detail).toBe('The clock agrees with that of the database.')
    expect(checks['master-key']!.detail).toContain('belongs to the database')
    expect(checks['wallet-seeds']).toMatchObject({
      status: 'ok',
      detail: '4 wallets were checked, and the key of each unseals its seed.',
    })
    expect(JSON.stringify(checks)).not.toContain('secret')
  }
  const wallets = all.map(({ wallets }) => /^(\d+) of/.exec(wallets!.detail)![1])
  expect(Number(wallets[0]) + Number(wallets[1])).toBe(4)
})

test('a table without row-level security is named, and the hint repairs it', async () => {
  await asSuperuser('alter table credential disable row level security')
  const { database } = await checksOf(nodes[0]!)
  expect(database).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('in the table credential:'),
  })
  await asSuperuser(database!.hint!.replace(/ +--.*$/, ''))
  expect((await checksOf(nodes[0]!))['database']!.status).toBe('ok')
})

test('a connection limit of the role that the nodes exceed is a warning, and the hint raises it', async () => {
  const role = new URL(url).username
  await server.asSuperuser('postgres', `alter role ${role} connection limit 40`)
  const { connections } = await checksOf(nodes[0]!)
  expect(connections).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining(`the limit of the role ${role}, allows 40`),
    hint: expect.stringMatching(/or set AGENT_DATABASE_CONNECTIONS to 19$/),
  })
  await server.asSuperuser('postgres', connections!.hint!.replace(/ +--.*$/, ''))
  expect((await checksOf(nodes[0]!))['connections']!.status).toBe('ok')
})

test('the smallest of the limits counts, and missing notifications are a note', () => {
  const facts = { total: 100, reserved: 3, ofRole: -1, ofDatabase: -1, used: 5, nodes: 3, perNode: 20 }
  const given = { ...facts, arrives: false, role: 'agent', database: 'agent' }
  expect(judgeConnections(given)).toEqual({
    status: 'ok',
    detail: expect.stringContaining('Notifications do not arrive, as behind a pooler'),
  })
  expect(judgeConnections({ ...given, nodes: 5 }).detail).toContain('max_connections of the server')
  expect(judgeConnections({ ...given, ofDatabase: 50 }).hint).toContain(
    'alter database agent connection limit 63',
  )
})

test('a node whose address does not answer is named, and so is one whose lease has ended', async () => {
  const [a, b] = nodes as [Daemon, Daemon]
  const { address } = (await asSuperuser(`select address from node where name = 'b'`)).rows[0] as {
    address: string
  }
  await using link = await openLink(() => Number(address.split(':')[1]))
  const detour = `127.0.0.1:${link.port}`
  await asSuperuser(`update node set address = '${detour}' where name = 'b'`)
  expect((await checksOf(a))['nodes']!.status).toBe('ok')
  link.cut()
  expect((await checksOf(a))['nodes']).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining(
      `The node b at ${detour} cannot be reached from this node: it does not answer`,
    ),
    hint: expect.stringContaining('AGENT_NODE_ADDRESS'),
  })
  link.mend()
  await asSuperuser(`update node set address = '${address}' where name = 'b'`)
  process.kill(b.pid, 'SIGSTOP')
  try {
    const ended = await until(
      'the end of the lease',
      async () => (await checksOf(a))['nodes']!,
      ({ status }) => status === 'warning',
    )
    expect(ended.detail).toMatch(/^The lease of the node b ended /)
  } finally {
    process.kill(b.pid, 'SIGCONT')
  }
  await until(
    'its return',
    async () => (await checksOf(a))['nodes']!,
    ({ status, detail }) => status === 'ok' && detail.includes('2 nodes run: a has 128'),
  )
})

test('without a running node: the same checks, and a seed of another wallet is found', async () => {
  const checks = await checksAtRest(url, true)
  expect(Object.entries(checks).filter(([, { status }]) => status === 'failed')).toEqual([])
  expect(Object.keys(checks)).toEqual([
    'packages',
    'ports',
    'data-folder',
    'master-key',
    'database',
    'connections',
    'nodes',
    'wallet-seeds',
    'clock',
  ])
  const { id } = (await asSuperuser('select id from wallet order by id limit 1')).rows[0] as { id: string }
  const swap = `update setting set value = reverse(value) where name = 'seed' and wallet_id = '${id}'`
  await asSuperuser(swap)
  expect((await checksAtRest(url, true))['wallet-seeds']).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining(id),
  })
  await asSuperuser(swap)
})

test('a database that is away, wrong or empty: one reason, no password, and nothing is created', async () => {
  const away: [string, RegExp][] = [
    [url.replace(`:${server.port}/`, ':1/'), /cannot be used: nothing listens there\./],
    [`${url}_missing`, /cannot be used: database "\w+" does not exist\./],
  ]
  for (const [given, reason] of away) {
    const checks = await checksAtRest(given)
    expect(Object.keys(checks)).toEqual(['packages', 'ports', 'data-folder', 'database'])
    expect(checks['database']).toMatchObject({ status: 'failed', detail: expect.stringMatching(reason) })
    expect(JSON.stringify(checks)).not.toContain('secret')
  }
  const empty = await server.createDatabase()
  expect((await checksAtRest(empty))['database']).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('The next start creates'),
  })
  const { rows } = await server.asSuperuser(
    new URL(empty).pathname.slice(1),
    `select to_regclass('wallet') as found`,
  )
  expect(rows).toEqual([{ found: null }])
})

test('a server that acknowledges commits before they are on the disk has failed', async () => {
  // The server of the tests, whose data nobody keeps.
  const careless = await openServer()
  const database = await careless.createDatabase({ isEmpty: true })
  expect((await checksAtRest(database))['database']).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('fsync is off'),
  })
})
