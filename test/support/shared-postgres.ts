/**
 * The PostgreSQL server that all tests of a run share. The main process of vitest starts it at the first
 * demand of a test, and stops it at the end of the run. If that process is killed, the server ends with it.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Postgres, Server, Template } from './postgres.ts'

/** The variable with the URL where test processes ask for the server. */
const variable = 'TEST_POSTGRES_URL'

type Answer = { port: number; template: Template }

/**
 * The server of this run, with the tables of an agent as its template. Outside of vitest, a server of the
 * caller, who disposes of it.
 */
export async function openServer(): Promise<Server> {
  const { connectTo, startPostgres } = await import('./postgres.ts')
  const url = process.env[variable]
  if (url === undefined) return startPostgres()
  const response = await fetch(url)
  if (!response.ok) throw new Error(`The shared PostgreSQL did not start: ${await response.text()}`)
  const { port, template } = (await response.json()) as Answer
  return { ...connectTo(port, template), [Symbol.asyncDispose]: () => Promise.resolve() }
}

/** `globalSetup` of vitest, which calls it for each of its projects. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[variable] !== undefined) return undefined
  let started: Promise<{ server: Postgres; template: Template }> | undefined
  const desk = createServer((_, response) => {
    started ??= start()
    started.then(
      ({ server: { port }, template }) => response.end(JSON.stringify({ port, template } satisfies Answer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await once(desk.listen(0, '127.0.0.1'), 'listening')
  process.env[variable] = `http://127.0.0.1:${(desk.address() as AddressInfo).port}`
  return async () => {
    delete process.env[variable]
    desk.close()
    desk.closeAllConnections()
    const opened = await started?.catch(() => undefined)
    await opened?.server[Symbol.asyncDispose]()
  }
}

async function start() {
  const { quick, startPostgres } = await import('./postgres.ts')
  // The test processes have several agents each, of up to 20 connections. Databases do not live long enough
  // to be vacuumed.
  const server = await startPostgres([...quick, 'max_connections=600', 'autovacuum=off'])
  try {
    return { server, template: await makeTemplate(server) }
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * Creates the template database. PostgreSQL copies a database only while nobody is connected to it, so this
 * one accepts no connections.
 */
async function makeTemplate(server: Postgres): Promise<Template> {
  const { openPostgres } = await import('../../src/foundation/storage/postgres/open.ts')
  const url = await server.createDatabase()
  await (await openPostgres({ url, connections: 8, nodeName: 'template' })).close()
  const { username: role, pathname } = new URL(url)
  const database = pathname.slice(1)
  // Otherwise it would be among what a copy takes over from the role.
  await server.asSuperuser('postgres', `alter database ${database} owner to postgres`)
  await server.asSuperuser('postgres', `alter database ${database} allow_connections false`)
  return { database, role }
}
