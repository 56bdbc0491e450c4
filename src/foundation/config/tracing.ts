/**
 * The variables of OpenTelemetry
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/), with their names and
 * meanings there. They are checked only if traces are exported: other programs may share the environment.
 */
import * as z from 'zod'
import { flag, http, secret } from './values.ts'
import { Secret } from '../secret.ts'

const text = z.string()

// prettier-ignore
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT:          text.optional()        .describe('Base URL of an OpenTelemetry collector. The agent then sends traces to `/v1/traces` there. Default: no traces.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT:   text.optional()        .describe('The whole URL for traces, instead of the base URL.'),
  OTEL_EXPORTER_OTLP_HEADERS:           secret.optional()      .describe('Headers of the requests to the collector, such as `authorization=Bearer%20abc,x-tenant=7`. Values are percent-encoded.'),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS:    secret.optional()      .describe('The same for traces only. A header here replaces the one of the same name there.'),
  OTEL_EXPORTER_OTLP_PROTOCOL:          text.optional()        .describe('`http/protobuf` or `http/json`. Default: `http/protobuf`.'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL:   text.optional()        .describe('The same for traces only.'),
  OTEL_EXPORTER_OTLP_COMPRESSION:       text.optional()        .describe('`gzip` or `none`. Default: `none`.'),
  OTEL_EXPORTER_OTLP_TIMEOUT:           text.optional()        .describe('Milliseconds that the collector has to take an export, with its repetitions. Default: 10000.'),
  OTEL_BSP_SCHEDULE_DELAY:              text.optional()        .describe('Milliseconds between two exports. Default: 5000.'),
  OTEL_SERVICE_NAME:                    text.optional()        .describe('Name of this agent in traces. Default: `identity-agent`.'),
  OTEL_RESOURCE_ATTRIBUTES:             text.optional()        .describe('Attributes of this agent in traces, such as `deployment.environment.name=test,service.namespace=acme`. Values are percent-encoded.'),
  OTEL_TRACES_SAMPLER:                  text.optional()        .describe('Which traces are exported: `always_on`, `always_off`, `traceidratio`, or the same with `parentbased_`, which follows the decision of the caller if there is one. Default: `parentbased_always_on`.'),
  OTEL_TRACES_SAMPLER_ARG:              text.optional()        .describe('Part of the traces for `traceidratio`, 0 to 1. Default: 1.'),
  OTEL_TRACES_EXPORTER:                 text.optional()        .describe('`otlp` or `none`. Default: `otlp`.'),
  OTEL_SDK_DISABLED:                    text.optional()        .describe('`true` switches traces off.'),
  TRACE_PEERS:                          flag.default(false)    .describe('Whether DIDComm messages carry the trace context to other agents, encrypted, and received contexts are continued. A flow is then one trace of both agents, and a peer can tell which messages belong to one trace.'),
} satisfies Record<string, z.ZodType>

/** A list `a=1,b=2` with percent-encoded values (W3C Baggage), by name. */
const List = text.transform((value, context) => {
  const entries = value.split(',').filter((entry) => entry.trim() !== '')
  const pairs = entries.map((entry) => /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/s.exec(entry))
  try {
    return new Map(pairs.map((pair) => [pair![1]!, decodeURIComponent(pair![2]!)]))
  } catch {
    context.addIssue({ code: 'custom', message: 'is not a list such as name=value,other=value' })
    return z.NEVER
  }
})

/** Names and values by RFC 9110 §5.5 and §5.6.2. */
const Headers = List.refine(
  (headers) =>
    [...headers].every(
      ([name, value]) =>
        /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
    ),
  'has a name or a value that an HTTP header cannot have',
)

const Milliseconds = z.coerce.number('is not a number of milliseconds').int().min(1).max(600_000)
const protocols = ['http/protobuf', 'http/json'] as const
const Protocol = z.enum(
  protocols,
  'is neither http/protobuf nor http/json, for which collectors usually listen on port 4318',
)

const Values = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: http.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: http.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: Headers.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: Headers.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: Protocol.optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: Protocol.optional(),
  OTEL_EXPORTER_OTLP_COMPRESSION: z.enum(['gzip', 'none']).default('none'),
  OTEL_EXPORTER_OTLP_TIMEOUT: Milliseconds.default(10_000),
  OTEL_BSP_SCHEDULE_DELAY: Milliseconds.default(5_000),
  OTEL_SERVICE_NAME: text.optional(),
  OTEL_RESOURCE_ATTRIBUTES: List.default(new Map()),
  OTEL_TRACES_SAMPLER: z
    .stringFormat('sampler', /^(parentbased_)?(always_on|always_off|traceidratio)$/, {
      error: 'is not always_on, always_off or traceidratio, with or without parentbased_ before it',
    })
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number('is not a number from 0 to 1').min(0).max(1).default(1),
})

/** How traces are exported. `headers` hold secrets. */
export type TracingConfig = {
  url: string
  headers: Record<string, string>
  protocol: (typeof protocols)[number]
  compression: 'gzip' | 'none'
  timeoutMs: number
  delayMs: number
  attributes: Record<string, string>
  sampler: { name: string; ratio: number }
}

type Given = { readonly [Name in keyof typeof tracingVariables]?: unknown }

/** Undefined if no traces are exported. The configuration is valid (`findWrongTracing`). */
export function readTracing(given: Given): TracingConfig | undefined {
  return parseTracing(given).tracing
}

type Wrong = { name: string; reason: string }

/** The variables that are not valid, if traces are exported. */
export function findWrongTracing(given: Given): Wrong[] {
  return parseTracing(given).wrong
}

function parseTracing(given: Given): { tracing?: TracingConfig; wrong: Wrong[] } {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = given
  if (base === undefined && own === undefined) return { wrong: [] }
  const switches = z
    .object({
      OTEL_SDK_DISABLED: z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] }).default(false),
      OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
    })
    .safeParse(given)
  if (switches.data?.OTEL_SDK_DISABLED === true || switches.data?.OTEL_TRACES_EXPORTER === 'none')
    return { wrong: [] }
  const revealed = Object.entries(given).map(([name, value]) => [
    name,
    value instanceof Secret ? value.reveal() : value,
  ])
  const result = Values.safeParse(Object.fromEntries(revealed))
  const issues = [...(switches.error?.issues ?? []), ...(result.error?.issues ?? [])]
  return {
    ...(result.success && { tracing: toTracing(result.data) }),
    wrong: issues.map(({ path, message }) => ({ name: path.join('.'), reason: message })),
  }
}

function toTracing(values: z.output<typeof Values>): TracingConfig {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_SERVICE_NAME: name } = values
  const headers = [
    values.OTEL_EXPORTER_OTLP_HEADERS ?? [],
    values.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? [],
  ].flatMap((list) => [...list].map(([name, value]): [string, string] => [name.toLowerCase(), value]))
  return {
    url: values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? `${base!.replace(/\/+$/, '')}/v1/traces`,
    headers: Object.fromEntries(headers),
    protocol:
      values.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? values.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf',
    compression: values.OTEL_EXPORTER_OTLP_COMPRESSION,
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
    delayMs: values.OTEL_BSP_SCHEDULE_DELAY,
    attributes: {
      'service.name': 'identity-agent',
      ...Object.fromEntries(values.OTEL_RESOURCE_ATTRIBUTES),
      ...(name !== undefined && { 'service.name': name }),
    },
    sampler: { name: values.OTEL_TRACES_SAMPLER, ratio: values.OTEL_TRACES_SAMPLER_ARG },
  }
}
