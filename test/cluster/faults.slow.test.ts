/**
 * Faults around nodes: each is one sentence at a start, or 503 with `Retry-After` while they run. Nothing is
 * lost, half done or doubled.
 */
import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { Daemon } from '../support/daemon.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import { startPostgres, type Server } from '../support/postgres.ts'
import { openServer } from '../support/shared-postgres.ts'
import { until } from '../support/tenants.ts'
import { Webhook } from '../support/webhook.ts'
import { openLink } from './_link.ts'
import { startNodes } from './_nodes.ts'
import { openOldServer } from './_old-server.ts'

needsPostgres()

let server: Server
beforeAll(async () => void (server = await openServer()))

const settings = (url: string, name: string, more: Record<string, string> = {}) => ({
  AGENT_DATABASE_URL: url,
  AGENT_NODE_NAME: name,
  AGENT_LEASE_SECONDS: '2',
  AGENT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64url'),
  ...more,
})

/** Starts a daemon that must not start. @returns the one sentence that it says */
async function refused(env: Record<string, string>): Promise<string> {
  const error = await Daemon.start(env).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(Error)
  const said = (error as Error).message.replace('the daemon did not start: ', '').trim()
  expect(said).toMatch(/^[A-Z][^\n]*\.$/)
  expect(said).not.toContain('secret')
  return said
}

type Outcome = { status: number; retryAfter: string | null; detail: string | undefined }

/** Sends a request of a tenant. */
async function send(url: string, apikey: string, body?: object): Promise<Outcome> {
  const response = await fetch(`${url}/connections`, {
    method: body ? 'POST' : 'GET',
    headers: { apikey, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { detail } = (await response.json()) as { detail?: string }
  return { status: response.status, retryAfter: response.headers.get('retry-after'), detail }
}

/** 503 with `Retry-After`. */
const unavailable = expect.objectContaining({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) })

const labelsOf = async (url: string, apikey: string): Promise<string[]> => {
  const response = await fetch(`${url}/connections?limit=100`, { headers: { apikey } })
  const { contents } = (await response.json()) as { contents: { label: string }[] }
  return contents.map(({ label }) => label)
}

const isReady = async (url: string) => (await fetch(`${url}/_system/ready`)).status

test('a server of release 14 is refused at the start', async () => {
  await using old = await openOldServer()
  expect(await refused(settings(`postgres://agent:secret@127.0.0.1:${old.port}/agent`, 'a'))).toBe(
    'AGENT_DATABASE_URL names a PostgreSQL 14.19, which is too old: use release 15 or later.',
  )
})

test.each([
  ['ahead of', 3_600],
  ['behind', -3_600],
])('a node whose clock is an hour %s the database’s is refused', async (side, seconds) => {
  const shift = `const Real = Date; const ms = ${seconds * 1_000};
    globalThis.Date = class extends Real {
      constructor(...given) { if (given.length > 0) super(...given); else super(Real.now() + ms) }
      static now() { return Real.now() + ms }
    }`
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(shift)}`
  expect(await refused(settings(await server.createDatabase(), 'a', { NODE_OPTIONS }))).toMatch(
    new RegExp(`^The clock of this machine is (3599|3600|3601) s ${side} that of the database\\.`),
  )
})

test('requests for a node that cannot be reached get 503, and succeed when it can be reached again', async () => {
  await using nodes = await startNodes(['a', 'b'])
  const [a] = nodes.daemons
  const [row] = await nodes.read<{ address: string }>(`select address from node where name = 'b'`)
  await using link = await openLink(() => Number(row!.address.split(':')[1]))
  await nodes.read(`update node set address = '127.0.0.1:${link.port}' where name = 'b'`)
  await until(
    'the shards of b',
    () => nodes.read(`select id from shard where node = (select id from node where name = 'b')`),
    (shards) => shards.length === 128,
  )
  // A node owns the wallets that it makes.
  const { apiKey } = await nodes.daemons[1]!.newTenant('of b')
  // Node a reads the new address when it renews its lease.
  await until(
    'the way over the link',
    async () => (await send(a!.url, apiKey)).status === 200 && link.connections > 0,
    Boolean,
  )
  expect((await send(a!.url, apiKey, { label: 'before' })).status).toBe(201)
  link.cut()
  const [read, write] = await Promise.all([send(a!.url, apiKey), send(a!.url, apiKey, { label: 'during' })])
  expect([read, write]).toEqual([unavailable, unavailable])
  link.mend()
  await until(
    'an answer',
    () => send(a!.url, apiKey),
    ({ status }) => status === 200,
  )
  expect((await send(a!.url, apiKey, { label: 'after' })).status).toBe(201)
  expect(await labelsOf(a!.url, apiKey)).toEqual(['before', 'after'])
})

test('requests that wait for a locked table and for connections get 503, and those that were answered are there once', async () => {
  const url = await server.createDatabase()
  await using daemon = await Daemon.start(settings(url, 'a', { AGENT_DATABASE_CONNECTIONS: '8' }))
  const { apiKey } = await daemon.newTenant('tenant')
  const locker = new pg.Client({
    connectionString: `postgres://postgres@127.0.0.1:${server.port}${new URL(url).pathname}`,
  })
  await locker.connect()
  await locker.query('begin; lock table record in access exclusive mode')
  const labels = Array.from({ length: 30 }, (_, index) => `request ${index}`)
  const requests = labels.map((label) => send(daemon.url, apiKey, { label }))
  const first = await Promise.race(requests)
  await locker.query('rollback')
  await locker.end()
  expect(first).toEqual(unavailable)
  const done = await Promise.all(requests)
  for (const outcome of done) if (outcome.status !== 201) expect(outcome).toEqual(unavailable)
  await until(
    'an answer',
    () => send(daemon.url, apiKey, { label: 'after' }),
    ({ status }) => status === 201,
  )
  const acknowledged = labels.filter((_, index) => done[index]!.status === 201)
  expect((await labelsOf(daemon.url, apiKey)).toSorted()).toEqual([...acknowledged, 'after'].toSorted())
})

test('the error of a full disk of the database is answered 507, nothing is half done, and room ends it', async () => {
  const url = await server.createDatabase()
  await using daemon = await Daemon.start(settings(url, 'a'))
  const { apiKey } = await daemon.newTenant('tenant')
  const asSuperuser = (statements: string) => server.asSuperuser(new URL(url).pathname.slice(1), statements)
  // The code that the server reports when it cannot extend a file, at the last rows of a step.
  await asSuperuser(`create function extend() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
    create trigger extend before insert on event execute function extend()`)
  expect(await send(daemon.url, apiKey, { label: 'during' })).toMatchObject({ status: 507 })
  expect(await labelsOf(daemon.url, apiKey)).toEqual([])
  await asSuperuser('drop trigger extend on event')
  expect((await send(daemon.url, apiKey, { label: 'after' })).status).toBe(201)
  expect(await labelsOf(daemon.url, apiKey)).toEqual(['after'])
})

test('a role without connections: one sentence at the start, and 503 until there are some again', async () => {
  const url = await server.createDatabase()
  const { username: role } = new URL(url)
  const limit = (most: number) =>
    server.asSuperuser('postgres', `alter role ${role} connection limit ${most}`)
  await limit(0)
  expect(await refused(settings(url, 'a'))).toContain(`too many connections for role "${role}"`)
  await limit(-1)
  await using daemon = await Daemon.start(settings(url, 'a'))
  const { apiKey } = await daemon.newTenant('tenant')
  await limit(0)
  await server.asSuperuser(
    'postgres',
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`,
  )
  expect(await send(daemon.url, apiKey, { label: 'during' })).toEqual(unavailable)
  await until(
    'not ready',
    () => isReady(daemon.url),
    (status) => status === 503,
  )
  await limit(-1)
  await until(
    'ready',
    () => isReady(daemon.url),
    (status) => status === 200,
  )
  await until(
    'an answer',
    () => send(daemon.url, apiKey, { label: 'after' }),
    ({ status }) => status === 201,
  )
  expect(await labelsOf(daemon.url, apiKey)).toEqual(['after'])
})

test.each(['stopped', 'cut off'] as const)(
  'a database that is %s for longer than a lease loses and doubles nothing',
  async (how) => {
    await using webhook = await Webhook.open()
    const stoppable = how === 'stopped' ? await startPostgres() : undefined
    await using own = stoppable ?? (await openServer())
    await using link = await openLink(() => own.port)
    const url = new URL(await own.createDatabase())
    url.port = String(link.port)
    await using daemon = await Daemon.start(settings(url.href, 'a', { GLOBAL_WEBHOOK_URL: webhook.url }))
    const { apiKey } = await daemon.newTenant('tenant')
    const made: string[] = []
    const make = async (label: string) => {
      const outcome = await send(daemon.url, apiKey, { label })
      if (outcome.status === 201) made.push(label)
      return outcome
    }
    for (let index = 0; index < 5; index++) expect((await make(`before ${index}`)).status).toBe(201)
    if (stoppable) await stoppable.kill()
    else link.cut()
    await until(
      'not ready',
      () => isReady(daemon.url),
      (status) => status === 503,
    )
    expect(await make('during')).toEqual(unavailable)
    if (stoppable) await stoppable.start()
    else link.mend()
    await until(
      'ready',
      () => isReady(daemon.url),
      (status) => status === 200,
    )
    await until(
      'an answer',
      () => make('after'),
      ({ status }) => status === 201,
    )
    expect(await labelsOf(daemon.url, apiKey)).toEqual(made)
    const labels = () =>
      webhook.events.map(({ data }) => data['label']).filter((label) => label !== undefined)
    await until(
      'all events',
      () => Promise.resolve(labels()),
      (all) => new Set(all).size >= made.length,
    )
    expect([...new Set(labels())]).toEqual(made)
    expect(webhook.changed).toEqual([])
  },
)
