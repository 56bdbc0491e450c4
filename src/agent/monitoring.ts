/** Connects the metrics with the parts that a scrape reads. Nothing here runs between scrapes. */
import { performance } from 'node:perf_hooks'
import type { Agent } from './agent.ts'
import type { Metrics } from '../foundation/metrics.ts'
import { createEndSearch } from '../wallet/issuer-certificates/expiry.ts'
import { classOf } from '../wallet/outbox/message-log.ts'
import { beginFlowMetrics } from '../exchange/engine/count.ts'
import { handlers, protocols } from '../exchange/all-protocols.ts'
import { readFreeBytes } from '../operations/readiness.ts'
import type { AgentDb } from '../foundation/storage/database.ts'

type Parts = Pick<
  Agent,
  'config' | 'db' | 'env' | 'notifier' | 'readiness' | 'scheduler' | 'wallets' | 'worker'
>

/** Has scrapes read the numbers of an agent. */
export function monitor(parts: Parts): void {
  const { config, db, env, notifier, readiness, scheduler, wallets, worker } = parts
  const { metrics } = env
  beginFlowMetrics(metrics, Object.values(protocols))
  beginMessageMetrics(metrics)
  metrics.read('agent_ready', async () => ((await readiness.check()).length === 0 ? 1 : 0))
  metrics.read('agent_data_folder_available_bytes', () => readFreeBytes(config.AGENT_DATA_DIR))
  metrics.read(
    'agent_event_loop_active_seconds_total',
    () => performance.eventLoopUtilization().active / 1_000,
  )
  metrics.read('agent_http_requests_waiting', () => scheduler.waiting())
  metrics.read('agent_jobs_waiting', () => worker.backlog().jobs)
  metrics.read('agent_oldest_job_age_seconds', () => worker.backlog().oldestJobAge)
  metrics.read('agent_webhook_events_waiting', () => worker.backlog().events)
  metrics.read('agent_oldest_webhook_event_age_seconds', () => worker.backlog().oldestEventAge)
  const readEarliestEnd = createEndSearch(wallets)
  metrics.read('agent_issuer_certificate_earliest_end_timestamp_seconds', () => {
    const value = readEarliestEnd()
    return value === undefined ? [] : [{ labels: {}, value }]
  })
  metrics.read('agent_wallets', () => countWallets(db))
  metrics.read('agent_event_streams', () => notifier.countAll('events'))
}

/**
 * Begins the series of messages with 0, since `increase` does not see the increment that begins a series. The
 * agent sends the messages that it can handle, as one side or the other.
 */
function beginMessageMetrics(metrics: Metrics): void {
  for (const type of new Set(Object.keys(handlers).map(classOf))) {
    metrics.add('agent_messages_received_total', { type }, 0)
    for (const outcome of ['delivered', 'refused', 'abandoned'] as const)
      metrics.add('agent_messages_sent_total', { type, outcome }, 0)
  }
}

async function countWallets(db: AgentDb): Promise<number> {
  const { count } = await db
    .selectFrom('wallet')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
