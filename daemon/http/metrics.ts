/**
 * The metrics as text for Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/): those of
 * the agent, and those of its process by prom-client, which the first scrape loads.
 */
import type { Metric } from 'prom-client'
import type { Metrics } from '../../src/foundation/metrics.ts'
import { version } from './version.ts'

/** Prometheus accepts this format whatever formats its `Accept` header lists. */
export const metricsMedia = 'text/plain' as const
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * How often the delay of the event loop is sampled, in milliseconds. More often costs CPU time of an idle
 * process.
 */
const samplingMs = 100

/** The metrics of this process, which all agents in it share. */
let ofProcess: Promise<() => Promise<string>> | undefined

/** Renders all metrics of an agent and of its process. */
export async function renderMetrics(metrics: Metrics): Promise<string> {
  ofProcess ??= measureProcess()
  const build = { version, node: process.version }
  metrics.read('agent_build_info', () => [{ labels: build, value: 1 }])
  const { Registry } = await import('prom-client')
  const registry = new Registry()
  for (const { name, type, help, values } of await metrics.snapshot()) {
    const named = values.map((value) => ({ ...value, metricName: value.name }))
    const metric = { name, get: () => Promise.resolve({ name, help, type, values: named }) }
    // A registry needs the two members of a metric only. prom-client's own metrics cannot take counted
    // buckets.
    registry.registerMetric(metric as unknown as Metric)
  }
  return (await registry.metrics()) + (await (await ofProcess)())
}

/**
 * Begins to measure the process: CPU, memory, open files, garbage collection, and the delay of the event
 * loop.
 */
async function measureProcess(): Promise<() => Promise<string>> {
  const { Registry, collectDefaultMetrics } = await import('prom-client')
  const register = new Registry()
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: samplingMs })
  // Gauges whose names end like those of counters. Each has a twin by type without the ending.
  for (const each of ['handles', 'requests', 'resources'])
    register.removeSingleMetric(`nodejs_active_${each}_total`)
  return () => register.metrics()
}
