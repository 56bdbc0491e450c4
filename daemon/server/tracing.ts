/** Loads the exporter of traces, a bundle of its own, if the configuration names a collector. */
import { createRequire } from 'node:module'
import type { Config } from '../../src/foundation/config/config.ts'
import type { Log } from '../../src/foundation/log.ts'
import { useTracer } from '../../src/foundation/spans.ts'
import { readTracing } from '../../src/foundation/config/tracing.ts'
import type * as exporter from '../../src/foundation/otel/export.ts'
import { version } from '../http/version.ts'

/** Returns a function that exports what is left. It waits at most two seconds. */
export function startTracing(config: Config, log: Log): () => Promise<void> {
  const tracing = readTracing(config)
  if (!tracing) return () => Promise.resolve()
  const { openTracing } = createRequire(import.meta.url)('./tracing.cjs') as typeof exporter
  const { tracer, close } = openTracing(tracing, log, version)
  useTracer(tracer)
  log.info({ url: new URL(tracing.url).origin }, 'traces are exported')
  return close
}
