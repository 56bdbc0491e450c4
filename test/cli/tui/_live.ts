/** The dashboard of a tenant of a daemon in this process. */
import { openEventStream } from '../../../daemon/client/event-client.ts'
import type { Daemon } from '../../../cli/tui/data/data.ts'
import { openStore } from '../../../cli/tui/data/store.ts'
import type { TestAgent } from '../../support/agent.ts'
import type { Tenant } from '../../support/tenants.ts'
import { showDashboard, type Dashboard, type Options } from './_dashboard.ts'

/** What the dashboard asks of a daemon, as a tenant. */
export function daemonOf(url: string, { apiKey, call }: Pick<Tenant, 'apiKey' | 'call'>): Daemon {
  return {
    call,
    open: (lastEventId, signal) => openEventStream(url, { apikey: apiKey }, { lastEventId, signal }),
  }
}

export async function showTenant(url: string, tenant: Tenant, options?: Options): Promise<Dashboard> {
  const daemon = daemonOf(url, tenant)
  return showDashboard(daemon, await openStore(daemon), options)
}

/** Creates a tenant and shows its dashboard, which closes when the result is disposed of. */
export async function showNewTenant(agent: Pick<TestAgent, 'url' | 'newTenant'>) {
  const tenant = await agent.newTenant()
  const dashboard = await showTenant(agent.url, tenant)
  return { tenant, dashboard, [Symbol.asyncDispose]: async () => dashboard.close() }
}
