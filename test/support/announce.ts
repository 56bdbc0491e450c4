/** Writes events to wallets, as flows do. */
import { appendEvent } from '../../src/wallet/events/event.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import type { TestAgent } from './agent.ts'
import type { Tenant } from './tenants.ts'

/** Runs `work` with the wallet of a tenant. */
export function use<T>(
  { agent }: Pick<TestAgent, 'agent'>,
  { walletId }: Tenant,
  work: (wallet: Wallet) => Promise<T>,
): Promise<T> {
  return agent.wallets.use(walletId, work)
}

/** Writes events with the states 1 to `count`. */
export function announce(agent: Pick<TestAgent, 'agent'>, tenant: Tenant, count: number): Promise<void> {
  return use(agent, tenant, (wallet) =>
    wallet.transaction(async (tx) => {
      for (let state = 1; state <= count; state++)
        await appendEvent(tx, { type: 'ConnectionUpdated', subject: 'a thread', data: { state } })
    }),
  )
}
