/** The variables of OpenTelemetry. */
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/foundation/config/config.ts'
import type { StartError } from '../../../src/foundation/start-error.ts'
import { readTracing } from '../../../src/foundation/config/tracing.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318' }
const read = (env: Record<string, string>) => readTracing(readConfig({ ...endpoint, ...env }))

test('an endpoint is enough', () => {
  expect(read({})).toEqual({
    url: 'http://collector.example:4318/v1/traces',
    headers: {},
    protocol: 'http/protobuf',
    compression: 'none',
    timeoutMs: 10_000,
    delayMs: 5_000,
    attributes: { 'service.name': 'identity-agent' },
    sampler: { name: 'parentbased_always_on', ratio: 1 },
  })
})

test('values for traces precede, lists are decoded, and a name precedes the attribute', () => {
  const config = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a.example/otlp/',
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-tenant = 7',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'X-Tenant=8',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,service.namespace=a%2Cb',
    OTEL_SERVICE_NAME: 'acme',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  })
  expect(config).toMatchObject({
    url: 'https://a.example/otlp/v1/traces',
    headers: { authorization: 'Bearer abc', 'x-tenant': '8' },
    protocol: 'http/json',
    attributes: { 'service.name': 'acme', 'service.namespace': 'a,b' },
    sampler: { name: 'parentbased_traceidratio', ratio: 0.25 },
  })
  const whole = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://b.example/in' }
  expect(readTracing(readConfig(whole))).toMatchObject({ url: 'https://b.example/in' })
  expect(read(whole)).toMatchObject({ url: 'https://b.example/in' })
  expect(read({ OTEL_RESOURCE_ATTRIBUTES: 'service.name=other' })?.attributes).toEqual({
    'service.name': 'other',
  })
})

test.each([
  { OTEL_SDK_DISABLED: 'true' },
  { OTEL_TRACES_EXPORTER: 'none' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
])('with %j, other values are not checked', (env) => {
  expect(read({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', ...env })).toBeUndefined()
})

const secret = 'the-secret-of-a-header'
test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', `http://user:${secret}@collector.example`],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://collector.example:4317'],
  ['OTEL_EXPORTER_OTLP_HEADERS', secret],
  ['OTEL_EXPORTER_OTLP_HEADERS', `a b=${secret}`],
  ['OTEL_EXPORTER_OTLP_HEADERS', `authorization=${secret}%0d%0ax: y`],
  ['OTEL_EXPORTER_OTLP_HEADERS', `authorization=${secret}%zz`],
  ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', `=${secret}`],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
  ['OTEL_BSP_SCHEDULE_DELAY', '0'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_SDK_DISABLED', 'maybe'],
])('a wrong %s is named, without its value: %s', (name, value) => {
  let error: StartError | undefined
  try {
    read({ [name]: value })
  } catch (caught) {
    error = caught as StartError
  }
  expect(error?.exitCode).toBe(2)
  expect(error?.message).toMatch(new RegExp(`^The configuration is not valid\\. ${name}: .*\\.$`))
  expect(error?.message).not.toContain(secret)
})
