/**
 * Spans with the SDK of OpenTelemetry: the implementation of `src/foundation/spans.ts`. Part of
 * `dist/daemon/tracing.cjs`, which a daemon loads only if it exports traces.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import type { Span, SpanStart, Tracer } from '../spans.ts'

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const

/** Events whose cause is remembered, so that their webhooks continue its trace. */
const maxNotes = 10_000

/** The longest `traceparent` that is parsed. Version 00 has 55 characters; later versions may have more. */
const longestContext = 256

/** Traces with the contexts of `AsyncLocalStorage`, so that code between two spans need not pass them on. */
export function createTracer(otel: OtelTracer): Tracer {
  const contexts = new AsyncLocalStorage<Context>()
  const notes = new Map<string, string>()
  const current = () => {
    const context = contexts.getStore()
    return context && trace.getSpan(context)
  }
  const traceparent = () => {
    const span = current()
    return span && toTraceparent(span)
  }
  return {
    async run(start, work) {
      const outer = contexts.getStore()
      if (!outer && start.isDetail) return work()
      const parent = start.parent === undefined ? (outer ?? ROOT_CONTEXT) : fromTraceparent(start.parent)
      const span = open(otel, start, parent)
      try {
        return await contexts.run(trace.setSpan(parent, span), work)
      } catch (error) {
        fail(span, codeOf(error))
        throw error
      } finally {
        span.end()
      }
    },
    active: () => {
      const span = current()
      return span && toSpan(span)
    },
    context: traceparent,
    ids() {
      const context = current()?.spanContext()
      return context && { trace_id: context.traceId, span_id: context.spanId }
    },
    keep(work) {
      const context = contexts.getStore()
      return context ? (...args) => contexts.run(context, () => work(...args)) : work
    },
    leave: (work) => contexts.exit(work),
    note(key) {
      const context = traceparent()
      if (context === undefined) return
      notes.set(key, context)
      if (notes.size > maxNotes) notes.delete(notes.keys().next().value!)
    },
    noted: (key) => notes.get(key),
  }
}

function open(otel: OtelTracer, { name, kind, attributes, startedAt }: SpanStart, parent: Context): OtelSpan {
  const options = {
    kind: kind ? kinds[kind] : SpanKind.INTERNAL,
    ...(attributes && { attributes }),
    ...(startedAt !== undefined && { startTime: startedAt }),
  }
  return otel.startSpan(name, options, parent)
}

function toSpan(span: OtelSpan): Span {
  return {
    name: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(attributes),
    event: (name, attributes = {}) => void span.addEvent(name, attributes),
    fail: (type) => fail(span, type),
  }
}

function fail(span: OtelSpan, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** The type of a `Problem`, the code of any other error with one, or the error's name. Messages may name DIDs. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { type, code } = error as { type?: unknown; code?: unknown }
  const found = [type, code].find((each) => typeof each === 'string')
  return found ?? error.name
}

function toTraceparent(span: OtelSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** The context of a `traceparent`, or an empty one if there is none or it is malformed. */
function fromTraceparent(text: string | null): Context {
  const parsed = text !== null && text.length <= longestContext ? parseTraceParent(text) : null
  return parsed ? trace.setSpanContext(ROOT_CONTEXT, { ...parsed, isRemote: true }) : ROOT_CONTEXT
}
