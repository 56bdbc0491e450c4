/**
 * Spans: the parts of a flow that the agent exports as OpenTelemetry traces (docs/operate/tracing.md).
 *
 * Without an exporter, which is the default, each function here is one comparison and does nothing else.
 * `src/foundation/otel` has the implementation, a bundle of its own. Attributes hold no claims, secrets,
 * DIDs, or names and ids of wallets. Errors leave their code, never their message.
 */

/**
 * By the semantic conventions of OpenTelemetry where they have a name. Others begin with `didcomm.` or
 * `identity_agent.`.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export type SpanStart = {
  /** One of few: names have no ids. */
  name: string
  /** Default: internal. */
  kind?: 'server' | 'client' | 'producer' | 'consumer'
  attributes?: Attributes
  /**
   * The cause: a `traceparent` (W3C Trace Context), or null for none. Default: the active span. A text of
   * another form counts as null.
   */
  parent?: string | null | undefined
  /** Milliseconds since 1970, if the work has begun before. */
  startedAt?: number | undefined
  /** No span if no other is active: the work is a detail of others. */
  isDetail?: boolean
}

export type Span = {
  /** Replaces the name. */
  name(name: string): void
  set(attributes: Attributes): void
  event(name: string, attributes?: Attributes): void
  /** Marks the span as failed. `type` is a code from a fixed set (`error.type`). */
  fail(type: string): void
}

/** What exports spans. A context is the active span in the form of a `traceparent`. */
export type Tracer = {
  run<T>(start: SpanStart, work: () => Promise<T>): Promise<T>
  active(): Span | undefined
  context(): string | undefined
  /** The ids of the active span, for log lines. */
  ids(): { trace_id: string; span_id: string } | undefined
  keep<Args extends unknown[], Result>(work: (...args: Args) => Result): (...args: Args) => Result
  leave<T>(work: () => T): T
  /** Keeps the context for a key, until it is one of the oldest of many. */
  note(key: string): void
  noted(key: string): string | undefined
}

let tracer: Tracer | undefined

/** Exports the spans of this process from now on. */
export function useTracer(given: Tracer | undefined): void {
  tracer = given
}

export function isTracing(): boolean {
  return tracer !== undefined
}

/** Runs work in a span. Work that throws fails the span with the error's code. */
export function inSpan<T>(start: () => SpanStart, work: () => Promise<T>): Promise<T> {
  return tracer ? tracer.run(start(), work) : work()
}

/** The span that the calling code runs in. */
export function activeSpan(): Span | undefined {
  return tracer?.active()
}

/** The active span as a `traceparent`, to continue its trace later or elsewhere. */
export function traceContext(): string | undefined {
  return tracer?.context()
}

/** The fields that log lines of the active span have. */
export function spanIds(): object {
  return tracer?.ids() ?? {}
}

/** A function that runs in the span that is active now, whoever calls it: for work that others execute. */
export function inThisSpan<Args extends unknown[], Result>(
  work: (...args: Args) => Result,
): (...args: Args) => Result {
  return tracer ? tracer.keep(work) : work
}

/** Runs work in no span: for work that a span only wakes. */
export function outsideSpans<T>(work: () => T): T {
  return tracer ? tracer.leave(work) : work()
}

/** Notes that the active span caused an event. The note is in memory, and lost with the process. */
export function noteCause(eventId: string): void {
  tracer?.note(eventId)
}

/** The `traceparent` of the span that caused an event; null if it is unknown. */
export function causeOf(eventId: string): string | null {
  return tracer?.noted(eventId) ?? null
}
