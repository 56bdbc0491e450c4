/**
 * Cost of a request outside its handler: reading a record over HTTP, next to a bare node:http server that
 * runs the same prepared statement. Both include the client.
 */
import { join } from 'node:path'
import { Pool } from 'undici'
import { createApp } from '../daemon/server/app.ts'
import { bind, serve, stop, urlOf } from '../daemon/server/listen.ts'
import { routes } from '../daemon/routes/index.ts'
import { openSqlite } from '../src/foundation/storage/sqlite.ts'
import { startAgent } from '../test/support/agent.ts'
import { startServer } from '../test/support/server.ts'
import { ofAgent, peer, type Suites, together } from './_harness.ts'

/** One after the other, over a keep-alive connection. */
export async function openRoute(): Promise<Suites> {
  const started = await startAgent()
  const { agent, tenant, dataDir } = started
  // The server of the test agent would compare each reply with its contract.
  const server = await bind('127.0.0.1', 0, 'AGENT_HTTP_PORT')
  serve(server, createApp(agent, routes).callback())
  const { connectionId } = await tenant('POST /connections', { body: { label: 'bench' } })
  const [walletId] = await agent.wallets.ids()
  const bare = await openBare(join(dataDir, 'wallets', `${walletId}.db`))
  const pools = { agent: new Pool(urlOf(server, '127.0.0.1')), bare: new Pool(bare.url) }
  const headers = { apikey: agent.defaultApiKey!.reveal() }
  const get = async (pool: Pool, path: string) => {
    const { statusCode, body } = await pool.request({ method: 'GET', path, headers })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${path} was answered ${statusCode}: ${text}`)
  }
  const suites = {
    'HTTP: read a record': [
      ofAgent(() => get(pools.agent, `/connections/${connectionId}`)),
      peer('bare node:http', () => get(pools.bare, `/connections/${connectionId}`)),
    ],
    'HTTP: a request that reads nothing': [
      ofAgent(() => get(pools.agent, '/_system/health')),
      peer('bare node:http', () => get(pools.bare, '/')),
    ],
  }
  const clients = {
    [Symbol.asyncDispose]: async () => void (await Promise.all([pools.agent.close(), pools.bare.close()])),
  }
  return {
    suites,
    [Symbol.asyncDispose]: together([started, { [Symbol.asyncDispose]: () => stop(server) }, bare, clients]),
  }
}

/** A server that reads records of a file without authentication. */
async function openBare(path: string) {
  const database = openSqlite(path, { readonly: true })
  const read = database.prepare('select * from record where id = ?')
  const server = await startServer((request, response) => {
    const id = request.url!.slice('/connections/'.length)
    const record = id === '' ? { version: '1' } : (read.get(id) as { data: string })
    const body = 'data' in record ? { ...record, data: JSON.parse(record.data) as object } : record
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      database.close()
    },
  }
}
