/** Clients of an agent's HTTP API: its administrator and its tenants. */
import { randomUUID } from 'node:crypto'
import { createClient, type Client } from '../../daemon/client/client.ts'

/** The administrator's token of agents and daemons in tests. */
export const adminToken = 'the-administrator-of-the-tests'

/** A wallet with an entity and an API key. `call` uses the key. */
export type Tenant = { walletId: string; entityId: string; apiKey: string; url: string; call: Client }

export const adminOf = (url: string, token = adminToken): Client =>
  createClient(url, { 'x-admin-api-key': token })

/** Creates a tenant at the agent with an address. */
export async function createTenant(url: string, name: string, token = adminToken): Promise<Tenant> {
  const admin = adminOf(url, token)
  const apiKey = `key-${randomUUID()}`
  const { id: walletId } = await admin('POST /wallets', { body: { name } })
  const { id: entityId } = await admin('POST /iam/entities', { body: { name, walletId } })
  await admin('POST /iam/apikey-authentication', { body: { entityId, apiKey } })
  return { walletId, entityId, apiKey, url, call: createClient(url, { apikey: apiKey }) }
}
