/** The export of spans to a collector by OTLP over HTTP, and the warning when it fails. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { ExportResultCode, type ExportResult } from '@opentelemetry/core'
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base'
import { createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http'
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import type { Log } from '../log.ts'
import type { Tracer } from '../spans.ts'
import type { TracingConfig } from '../config/tracing.ts'
import { createTracer } from './tracer.ts'

/** Spans that wait for their export. Further ones are dropped. A span takes one to two kilobytes. */
const maxWaiting = 4_096

/** The longest attribute in characters. Peers choose thread ids and message types. */
const longestAttribute = 300

/** How long a stop waits for the last export. */
const stopTimeoutMs = 2_000

export type Tracing = {
  tracer: Tracer
  /** Exports what is left, for at most two seconds. */
  close: () => Promise<void>
}

/** Begins to export. A collector that cannot be reached delays nothing. */
export function openTracing(config: TracingConfig, log: Log, version: string): Tracing {
  const provider = new TracerProvider({
    sampler: samplerOf(config.sampler),
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.version': version,
        'service.instance.id': randomUUID(),
        ...config.attributes,
      }),
    ),
    spanLimits: { attributeValueLengthLimit: longestAttribute },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: warnOnce(createExporter(config), log),
        scheduledDelayMillis: config.delayMs,
        maxQueueSize: maxWaiting,
      }),
    ],
  })
  return {
    tracer: createTracer(provider.getTracer('identity-agent', version)),
    async close() {
      let timer: NodeJS.Timeout | undefined
      const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, stopTimeoutMs)))
      await Promise.race([provider.shutdown().catch(() => undefined), timeout])
      clearTimeout(timer)
    },
  }
}

function createExporter({ url, headers, protocol, compression, timeoutMs }: TracingConfig): SpanExporter {
  const isJson = protocol === 'http/json'
  const mediaType = isJson ? 'application/json' : 'application/x-protobuf'
  const options = {
    url,
    headers: () => Promise.resolve({ ...headers, 'content-type': mediaType }),
    timeoutMillis: timeoutMs,
    compression,
    concurrencyLimit: 4,
    agentFactory: (scheme: string) => new (scheme === 'http:' ? HttpAgent : HttpsAgent)({ keepAlive: true }),
  }
  const serializer = isJson ? JsonTraceSerializer : ProtobufTraceSerializer
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      options,
      serializer,
      'otlp_http_span_exporter',
      TraceExporterMetricsHelper,
      undefined,
    ),
  )
}

/** Logs the first of several failed exports, and the first success after them with the number of lost spans. */
function warnOnce(exporter: SpanExporter, log: Log): SpanExporter {
  let lost = 0
  // An export runs in the span whose end began it, and is not part of it.
  const outside = AsyncLocalStorage.snapshot()
  const note = ({ code, error }: ExportResult, count: number) => {
    if (code !== ExportResultCode.SUCCESS) {
      if (lost === 0) log.warn({ reason: reasonOf(error) }, 'traces cannot be exported')
      lost += count
    } else if (lost > 0) {
      log.info({ count: lost }, 'traces are exported again, this many spans were lost')
      lost = 0
    }
  }
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        outside(note, result, spans.length)
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

/**
 * The status that the collector answered, or the code of the system. Its answer and the headers are not
 * logged.
 */
function reasonOf(error: Error | undefined): string {
  const { code } = (error ?? {}) as { code?: unknown }
  if (typeof code === 'number') return `the collector answered ${code}`
  return typeof code === 'string' ? code : 'the collector was too busy, or did not answer in time'
}

function samplerOf({ name, ratio }: TracingConfig['sampler']): Sampler {
  const own = name.endsWith('always_on')
    ? new AlwaysOnSampler()
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio)
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root: own }) : own
}
