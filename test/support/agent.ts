/**
 * A whole agent of the built program, in this process and in a temporary folder, with both of its servers on
 * free ports. `await using agent = await startAgent({ API_KEY_AUTO_PROVISIONING: 'true' })`: the variables
 * are those of `src/foundation/config/config.ts`, with their defaults.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type Client } from '../../daemon/client/client.ts'
import type { Route } from '../../daemon/http/route.ts'
import type { Agent } from '../../src/agent/agent.ts'
import type { Log } from '../../src/foundation/log.ts'
import { adminOf, adminToken, createTenant, type Tenant } from './api.ts'
import { putBlankDatabases } from './blank.ts'
import { built } from './built.ts'
import { share } from './shared.ts'
import { isOnPostgres, storeOf } from './store.ts'

export { adminToken }

export type TestAgent = {
  agent: Agent
  /** Base URL of the HTTP API. */
  url: string
  didcommUrl: string
  dataDir: string
  /** Calls as the administrator. */
  admin: Client
  /** Calls as the tenant of the default wallet. */
  tenant: Client
  /** Creates a wallet, an entity and an API key, and a client that uses the key. */
  newTenant(name?: string): Promise<Tenant>
  /** Sends a request. A string body is sent as JSON unless the headers say otherwise. */
  send(
    method: string,
    path: string,
    init?: { headers?: Record<string, string>; body?: string | Uint8Array },
  ): Promise<Response>
  [Symbol.asyncDispose](): Promise<void>
}

export type TestOptions = {
  /** Routes to use instead of the agent's. */
  routes?: readonly Route[]
  log?: Log
  /** An existing data folder; it is not deleted at the end. */
  dataDir?: string
  /** Parts to use instead of those of the built program (`agent-from-sources.ts`). */
  parts?: typeof built
}

/**
 * The agent that the tests of a file share, one for each set of variables: starting one costs more than most
 * tests. Each test has tenants of its own there (`newTenant`). It ends after the last test of the file.
 */
export async function sharedAgent(variables: Record<string, string> = {}): Promise<TestAgent> {
  const agent = await share(`agent ${JSON.stringify(variables)}`, () => startAgent(variables))
  return { ...agent, [Symbol.asyncDispose]: () => Promise.resolve() }
}

/** Starts an agent of its own. A test that restarts it, or that sees what concerns all tenants, needs one. */
export async function startAgent(
  variables: Record<string, string> = {},
  options: TestOptions = {},
): Promise<TestAgent> {
  const parts = options.parts ?? built
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'identity-agent-'))
  if (options.dataDir === undefined && !isOnPostgres) await putBlankDatabases(dataDir)
  const config = parts.readConfig({
    AGENT_DATA_DIR: dataDir,
    AGENT_CONFIG_DIR: dataDir,
    AGENT_HTTP_PORT: '0',
    AGENT_DIDCOMM_PORT: '0',
    AGENT_LOG_LEVEL: 'silent',
    ADMIN_TOKEN: adminToken,
    // It ends with this process, without a crash.
    ...(await storeOf(dataDir, 60)),
    ...variables,
  })
  const log = options.log ?? parts.openLog(config.AGENT_LOG_LEVEL)
  const { routes } = options
  const { agent, url, didcommUrl, close } = await parts.serveAgent(config, log, {
    routes,
    checkReplies: true,
  })

  return {
    agent,
    url,
    didcommUrl,
    dataDir,
    admin: adminOf(url),
    tenant: createClient(url, agent.defaultApiKey && { apikey: agent.defaultApiKey.reveal() }),
    newTenant: (name = 'tenant') => createTenant(url, name),
    send: (method, path, { headers, body } = {}) =>
      fetch(url + path, {
        method,
        headers: { ...(typeof body === 'string' && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: body as NonNullable<RequestInit['body']> }),
      }),
    async [Symbol.asyncDispose]() {
      await close()
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
