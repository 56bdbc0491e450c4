/**
 * An OpenTelemetry collector: an HTTP server that reads exported spans, as JSON and as protobuf, and keeps
 * them.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import * as z from 'zod'
import { createClient } from '../../../daemon/client/client.ts'
import { startServer } from '../../support/server.ts'
import { until, type Tenant } from '../../support/tenants.ts'

export type Span = {
  service: string
  traceId: string
  spanId: string
  /** Empty for a root. */
  parentId: string
  name: string
  /** By number: internal 1, server 2, client 3, producer 4, consumer 5. */
  kind: number
  attributes: Record<string, unknown>
  events: string[]
  /** 2 for a failed span. */
  status: number
  startMs: number
  endMs: number
}

const Attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })
const toAttributes = (list: z.output<typeof Attribute>[]) =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]))

const Nanos = z.coerce.bigint().transform((nanos) => Number(nanos / 1_000n) / 1_000)
const JsonSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(''),
  name: z.string(),
  kind: z.number(),
  attributes: z.array(Attribute).default([]),
  events: z.array(z.object({ name: z.string() })).default([]),
  status: z.object({ code: z.number().default(0) }),
  startTimeUnixNano: Nanos,
  endTimeUnixNano: Nanos,
})
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(JsonSpan) })),
    }),
  ),
})

function fromJson(body: string): Span[] {
  return Export.parse(JSON.parse(body)).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toAttributes(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(
        ({ parentSpanId, attributes, events, status, startTimeUnixNano, endTimeUnixNano, ...rest }) => ({
          ...rest,
          service,
          parentId: parentSpanId,
          attributes: toAttributes(attributes),
          events: events.map(({ name }) => name),
          status: status.code,
          startMs: startTimeUnixNano,
          endMs: endTimeUnixNano,
        }),
      ),
    )
  })
}

/**
 * The fields of a protobuf message by number. Numbers are BigInts, all else is bytes
 * (https://protobuf.dev/programming-guides/encoding).
 */
function fieldsOf(bytes: Buffer): Map<number, (Buffer | bigint)[]> {
  const fields = new Map<number, (Buffer | bigint)[]>()
  let at = 0
  const varint = () => {
    let [value, shift] = [0n, 0n]
    for (;;) {
      const byte = bytes[at++]!
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
      shift += 7n
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wire = tag & 7
    let value: Buffer | bigint
    if (wire === 0) value = varint()
    else {
      const length = wire === 2 ? Number(varint()) : wire === 1 ? 8 : 4
      value = bytes.subarray(at, (at += length))
    }
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}

const all = (fields: Map<number, (Buffer | bigint)[]>, field: number) => (fields.get(field) ?? []) as Buffer[]
const pairOf = (bytes: Buffer): [string, unknown] => {
  const pair = fieldsOf(bytes)
  const [value] = [...fieldsOf(all(pair, 2)[0]!).values()][0]!
  return [String(all(pair, 1)[0]), Buffer.isBuffer(value) ? value.toString() : Number(value)]
}

/** `opentelemetry/proto/trace/v1/trace.proto`, as far as the tests need it. */
function fromProtobuf(body: Buffer): Span[] {
  return all(fieldsOf(body), 1).flatMap((each) => {
    const resourceSpans = fieldsOf(each)
    const resource = Object.fromEntries(all(fieldsOf(all(resourceSpans, 1)[0]!), 1).map(pairOf))
    return all(resourceSpans, 2)
      .flatMap((scope) => all(fieldsOf(scope), 2))
      .map((bytes) => {
        const span = fieldsOf(bytes)
        const hex = (field: number) => all(span, field)[0]?.toString('hex') ?? ''
        const ms = (field: number) => Number(all(span, field)[0]!.readBigUInt64LE() / 1_000n) / 1_000
        return {
          service: String(resource['service.name']),
          traceId: hex(1),
          spanId: hex(2),
          parentId: hex(4),
          name: String(all(span, 5)[0]),
          kind: Number(span.get(6)?.[0] ?? 0),
          attributes: Object.fromEntries(all(span, 9).map(pairOf)),
          events: all(span, 11).map((event) => String(all(fieldsOf(event), 2)[0])),
          status: Number(fieldsOf(all(span, 15)[0] ?? Buffer.alloc(0)).get(3)?.[0] ?? 0),
          startMs: ms(7),
          endMs: ms(8),
        }
      })
  })
}

export type Collector = {
  url: string
  spans: Span[]
  requests: IncomingMessage[]
  /** Waits until the spans of a trace fit. Returns them. */
  trace(traceId: string, what: string, fits: (spans: Span[]) => boolean): Promise<Span[]>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a collector. `answer` sends the response instead of it, and the spans of a request are kept only if
 * it returns true.
 */
export async function openCollector(answer?: (response: ServerResponse) => boolean): Promise<Collector> {
  const spans: Span[] = []
  const requests: IncomingMessage[] = []
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push(request)
      if (answer && !answer(response)) return
      const sent = Buffer.concat(chunks)
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
      const isJson = request.headers['content-type'] === 'application/json'
      spans.push(...(isJson ? fromJson(body.toString()) : fromProtobuf(body)))
      if (!answer)
        response.setHeader('content-type', request.headers['content-type']!).end(isJson ? '{}' : '')
    })
  }
  const server = await startServer(listener)
  const ofTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId)
  return {
    url: server.url,
    spans,
    requests,
    trace: (traceId, what, fits) => until(what, () => Promise.resolve(ofTrace(traceId)), fits),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Variables of a daemon that exports to a collector at once. */
export const exportsTo = ({ url }: Pick<Collector, 'url'>, service: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_SERVICE_NAME: service,
  OTEL_BSP_SCHEDULE_DELAY: '50',
})

/** A trace of a client that calls agents: `of` is a tenant whose calls belong to it. */
export const newTrace = () => {
  const [traceId, rootId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  const traceparent = `00-${traceId}-${rootId}-01`
  const of = (tenant: Tenant): Tenant => ({
    ...tenant,
    call: createClient(tenant.url, { apikey: tenant.apiKey, traceparent }),
  })
  return { traceId, rootId, traceparent, of }
}

/** A tree of spans as lines, indented by depth, siblings by name: `service: name`. */
export function drawn(spans: Span[], rootParent: string, depth = 0): string[] {
  const lineOf = ({ service, name }: Span) => `${'  '.repeat(depth)}${service}: ${name}`
  return spans
    .filter(({ parentId }) => parentId === rootParent)
    .toSorted((a, b) => (lineOf(a) < lineOf(b) ? -1 : 1))
    .flatMap((span) => [lineOf(span), ...drawn(spans, span.spanId, depth + 1)])
}
