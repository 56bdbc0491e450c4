/** Tenants whose wallets have a seed of the test. */
import { randomBytes } from 'node:crypto'
import type { TestAgent } from '../../support/agent.ts'

export type Call = TestAgent['tenant']

/** A tenant of an agent whose wallet has this seed. */
export async function tenantOf({ admin, url }: TestAgent, seed: string): Promise<Call> {
  const { createClient } = await import('../../../daemon/client/client.ts')
  const apiKey = randomBytes(16).toString('hex')
  const { id: walletId } = await admin('POST /wallets', { body: { name: 'restored', seed } })
  const { id: entityId } = await admin('POST /iam/entities', { body: { name: 'restored', walletId } })
  await admin('POST /iam/apikey-authentication', { body: { entityId, apiKey } })
  return createClient(url, { apikey: apiKey })
}
