/** The export `identity-agent`: an agent in this process, for tests and for programs that embed one. */
import { createRequire } from 'node:module'
import type { InProcessOptions, LogLevel, Setting } from '../../daemon/server/in-process.ts'
import { createClient, type Client } from '../client/index.ts'

/** Loaded with the compiled code that the build stores (`bin/load.cjs`). */
const load = createRequire(import.meta.url)('../bin/load.cjs') as {
  load(name: string, use: string): { exports: typeof import('../../daemon/bundle.ts') }
}
const { startInProcess, StartError } = load.load('daemon/agent.cjs', 'daemon').exports

export { StartError }
export type { Client, LogLevel, Setting }
export type AgentOptions = InProcessOptions

/** A wallet with an API key. */
export type TenantOfAgent = { walletId: string; entityId: string; apiKey: string; client: Client }

export interface RunningAgent {
  /** Base URL of the HTTP API. */
  readonly url: string
  /** Base URL of the DIDComm endpoint. */
  readonly didcommUrl: string
  readonly dataDir: string
  /** The administrator's key. */
  readonly adminKey: string
  /** The key of the default wallet's tenant; empty if `DEFAULT_WALLET_ENABLED` is false. */
  readonly apiKey: string
  /** Calls as the tenant of the default wallet. */
  readonly client: Client
  /** Calls as the administrator. */
  readonly admin: Client
  /** Creates a wallet, an entity and an API key. */
  newTenant(name?: string): Promise<TenantOfAgent>
  /** Waits for accepted requests, closes everything, and removes the data folder if it is temporary. */
  close(): Promise<void>
  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts an agent in this process: `await using agent = await createAgent()`. It has a temporary data folder
 * and free ports, and reads no environment variables.
 *
 * @throws {StartError} with the name of the option, the reason and the way out. Nothing is left open then.
 */
export async function createAgent(options: AgentOptions = {}): Promise<RunningAgent> {
  const { url, didcommUrl, dataDir, adminKey, apiKey, close } = await startInProcess(options)
  const admin = createClient(url, { adminKey })
  return {
    url,
    didcommUrl,
    dataDir,
    adminKey,
    apiKey: apiKey ?? '',
    client: createClient(url, { apiKey }),
    admin,
    async newTenant(name = 'tenant') {
      const { id: walletId } = await admin('POST /wallets', { body: { name } })
      const { id: entityId } = await admin('POST /iam/entities', { body: { name, walletId } })
      const { apiKey: key } = await admin('POST /iam/entities/{id}/api-keys', {
        path: { id: entityId },
        body: { name },
      })
      return { walletId, entityId, apiKey: key, client: createClient(url, { apiKey: key }) }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
