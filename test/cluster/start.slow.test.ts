/**
 * Daemons over PostgreSQL: they refuse what they cannot use in one sentence, and share what the first of them
 * makes.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { readRunning } from '../../src/foundation/running.ts'
import { startAgent } from '../support/agent.ts'
import { Daemon } from '../support/daemon.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import type { Server } from '../support/postgres.ts'
import { openServer } from '../support/shared-postgres.ts'

needsPostgres()

let server: Server
beforeAll(async () => void (server = await openServer()))

const masterKey = Buffer.alloc(32, 7).toString('base64url')

const settings = (url: string, name: string, more: Record<string, string> = {}) => ({
  AGENT_DATABASE_URL: url,
  AGENT_NODE_NAME: name,
  AGENT_LEASE_SECONDS: '2',
  AGENT_MASTER_KEY: masterKey,
  ...more,
})

test('without the URL of its database, a node does not start as another agent', async () => {
  const url = await server.createDatabase()
  await using daemon = await Daemon.start(settings(url, 'a'))
  const { pathname } = new URL(url)
  const place = `127.0.0.1:${server.port}${pathname}`
  const running = readRunning(daemon.dataDir)
  expect(running).toMatchObject({ store: `PostgreSQL at ${place}`, node: 'a' })
  expect(JSON.stringify(running)).not.toContain('secret')
  await daemon.stop()
  delete daemon.env['AGENT_DATABASE_URL']
  await expect(daemon.start()).rejects.toThrow(
    `AGENT_DATABASE_URL is not set, and the profile local used PostgreSQL at ${place}.`,
  )
  expect(existsSync(join(daemon.dataDir, 'agent.db'))).toBe(false)
  // Another profile is another agent.
  Object.assign(daemon.env, { AGENT_PROFILE: 'other', AGENT_DATA_DIR: join(daemon.dataDir, 'other') })
  await daemon.start()
  expect(readRunning(daemon.dataDir)).toMatchObject({ store: 'SQLite files' })
})

/** Starts an agent that must not start. @returns what a daemon says */
async function refused(env: Record<string, string>): Promise<string> {
  const error = await startAgent(env).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(Error)
  return (error as Error).message
}

test('a URL of another kind, without a database, and with a name of a node that is not valid', async () => {
  const form = 'is not a URL of the form postgres://role:password@host:port/database'
  for (const url of ['mysql://a@b/c', 'postgres://localhost', 'nonsense'])
    expect(await refused(settings(url, 'a'))).toContain(`AGENT_DATABASE_URL: ${form}`)
  expect(await refused(settings('postgres://a:secret@127.0.0.1/b', 'a b'))).toContain(
    'AGENT_NODE_NAME: is not 1 to 63 letters, digits, dots, hyphens and underscores',
  )
  const wildcard = { AGENT_NODE_ADDRESS: '0.0.0.0:9000' }
  expect(await refused(settings('postgres://a:secret@127.0.0.1/b', 'a', wildcard))).toContain(
    'AGENT_NODE_ADDRESS: is not an address that other nodes can call',
  )
})

test('a server that is not there, a wrong password and a missing database', async () => {
  const url = await server.createDatabase()
  const nowhere = await refused(settings(url.replace(`:${server.port}/`, ':1/'), 'a'))
  expect(nowhere).toMatch(
    /^The database of AGENT_DATABASE_URL \(127\.0\.0\.1:1\/\w+\) cannot be used: .*\. Check that the server runs, and the address, role and password\.$/m,
  )
  const missing = await refused(settings(`${url}_missing`, 'a'))
  expect(missing).toContain('does not exist')
  for (const said of [nowhere, missing]) {
    expect(said).not.toContain('secret')
    expect(said.trim().split('\n')).toHaveLength(1)
  }
})

test('a role that bypasses row-level security, and one that may not create tables', async () => {
  const url = await server.createDatabase()
  const { username, pathname } = new URL(url)
  const database = pathname.slice(1)
  await server.asSuperuser('postgres', `alter role ${username} bypassrls`)
  expect(await refused(settings(url, 'a'))).toContain('bypasses row-level security')
  await server.asSuperuser(
    'postgres',
    `alter role ${username} nobypassrls; alter database ${database} owner to postgres`,
  )
  await server.asSuperuser(database, 'revoke create on schema public from public')
  expect(await refused(settings(url, 'a'))).toContain('may not create tables')
})

test('a database that a newer release has migrated, and another node with the same name', async () => {
  const url = await server.createDatabase()
  const { pathname } = new URL(url)
  const agent = await startAgent(settings(url, 'a'))
  expect(await refused(settings(url, 'a'))).toMatch(
    /^A node with the name a runs at 127\.0\.0\.1:\d+\. Set AGENT_NODE_NAME to another name, or stop that node\.$/m,
  )
  await agent[Symbol.asyncDispose]()
  await server.asSuperuser(
    pathname.slice(1),
    `insert into kysely_migration values ('999-later', '2099-01-01')`,
  )
  expect(await refused(settings(url, 'a'))).toContain('this release does not know 999-later')
})

test('three nodes that start at the same time share one agent key and one default wallet', async () => {
  const url = await server.createDatabase({ isEmpty: true })
  const daemons = await Promise.all(['a', 'b', 'c'].map((name) => Daemon.start(settings(url, name))))
  await using _ = {
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all(daemons.map((each) => each[Symbol.asyncDispose]()))),
  }
  for (const daemon of daemons) {
    const { contents } = await daemon.admin('GET /wallets')
    expect(contents.map(({ name }) => name)).toEqual(['default'])
  }
})
