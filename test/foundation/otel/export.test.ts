/** The exporter: one warning for a collector that fails, and a stop that does not wait for it. */
import { spawnSync } from 'node:child_process'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../../src/foundation/log.ts'
import { inSpan, useTracer } from '../../../src/foundation/spans.ts'
import type { TracingConfig } from '../../../src/foundation/config/tracing.ts'
import { openTracing } from '../../../src/foundation/otel/export.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/tenants.ts'
import { openCollector, type Collector } from './_collector.ts'

const configOf = ({ url }: Collector, rest: Partial<TracingConfig> = {}): TracingConfig => ({
  url: `${url}/v1/traces`,
  headers: {},
  protocol: 'http/protobuf',
  compression: 'none',
  timeoutMs: 60_000,
  delayMs: 1,
  attributes: { 'service.name': 'unit' },
  sampler: { name: 'always_on', ratio: 1 },
  ...rest,
})

function openLog() {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  })
  return {
    lines,
    log,
    said: () => lines.map(({ msg, reason, count, trace_id }) => ({ msg, reason, count, trace_id })),
  }
}

test('a failing collector is one warning, until it works again', async () => {
  let answer = (response: ServerResponse) => void response.writeHead(401).end('secret text')
  await using collector = await openCollector((response) => (answer(response), response.statusCode === 200))
  const { log, said } = openLog()
  const { tracer, close } = openTracing(configOf(collector), log, '1.0.0')
  useTracer(tracer)
  onTestFinished(() => useTracer(undefined))
  const exportOne = async () => {
    const before = collector.requests.length
    // The end of the inner span starts the timer of the export, in the outer one.
    await tracer.run({ name: 'outer' }, () => tracer.run({ name: 'inner' }, () => Promise.resolve()))
    await until(
      'an export',
      () => Promise.resolve(collector.requests.length),
      (count) => count > before,
    )
  }
  const warning = {
    msg: 'traces cannot be exported',
    reason: 'the collector answered 401',
    count: undefined,
    trace_id: undefined,
  }
  for (let n = 0; n < 3; n++) await exportOne()
  answer = (response) => void response.end()
  await exportOne()
  await until(
    'two lines',
    () => Promise.resolve(said()),
    (lines) => lines.length === 2,
  )
  answer = (response) => void response.writeHead(401).end()
  await exportOne()
  await until(
    'three lines',
    () => Promise.resolve(said()),
    (lines) => lines.length === 3,
  )
  expect(said()).toEqual([
    warning,
    {
      msg: 'traces are exported again, this many spans were lost',
      reason: undefined,
      count: 6,
      trace_id: undefined,
    },
    warning,
  ])
  await close()
})

test('a stop exports what is left, and does not wait for a collector that never answers', async () => {
  await using silent = await openCollector(() => false)
  await using collector = await openCollector()
  const headers = { authorization: 'Bearer abc' }
  for (const each of [silent, collector]) {
    const rest = { headers, compression: 'gzip', delayMs: 60_000, timeoutMs: 600_000 } as const
    const { tracer, close } = openTracing(configOf(each, rest), openLog().log, '1.0.0')
    await tracer.run({ name: 'work' }, () => Promise.resolve())
    await close()
    expect(each.requests.map((request) => request.headers)).toMatchObject([
      { ...headers, 'content-encoding': 'gzip', 'content-type': 'application/x-protobuf' },
    ])
  }
  expect(collector.spans).toMatchObject([{ name: 'work', service: 'unit', parentId: '' }])
})

test('errors leave their code, details need a span, and log lines have its ids', async () => {
  await using collector = await openCollector()
  const { log, lines } = openLog()
  const { tracer, close } = openTracing(configOf(collector), log, '1.0.0')
  useTracer(tracer)
  onTestFinished(() => useTracer(undefined))
  const failing = () => Promise.reject(Object.assign(new Error('of did:peer:2.secret'), { code: 'ECODE' }))
  await inSpan(
    () => ({ name: 'detail of nothing', isDetail: true }),
    () => Promise.resolve(log.info('outside')),
  )
  await inSpan(
    () => ({ name: 'outer' }),
    async () => {
      log.info('inside')
      await inSpan(() => ({ name: 'inner', isDetail: true }), failing).catch(() => undefined)
    },
  )
  await close()
  const [inner, outer] = ['inner', 'outer'].map((name) => collector.spans.find((span) => span.name === name)!)
  expect(collector.spans).toHaveLength(2)
  expect(inner).toMatchObject({ status: 2, attributes: { 'error.type': 'ECODE' }, parentId: outer!.spanId })
  expect(JSON.stringify(collector.spans)).not.toContain('did:peer')
  expect(lines).toMatchObject([
    { msg: 'outside' },
    { msg: 'inside', trace_id: outer!.traceId, span_id: outer!.spanId },
  ])
  expect(lines[0]).not.toHaveProperty('trace_id')
})

test.each(['none', 'half', 'all'] as const)('the sampler exports %s of the traces', async (part) => {
  await using collector = await openCollector()
  const sampler = { none: 'always_off', half: 'traceidratio', all: 'parentbased_always_on' }[part]
  const { tracer, close } = openTracing(
    configOf(collector, { sampler: { name: sampler, ratio: 0.5 }, timeoutMs: 5_000 }),
    openLog().log,
    '1.0.0',
  )
  for (let n = 0; n < 200; n++) await tracer.run({ name: 'work', parent: null }, () => Promise.resolve())
  await close()
  const count = collector.spans.length
  if (part === 'half') expect(count > 0 && count < 200).toBe(true)
  else expect(count).toBe(part === 'all' ? 200 : 0)
})

test('a daemon with a wrong variable does not start', () => {
  const folder = newFolder()
  const { status, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('../../../bin/daemon.cjs', import.meta.url))],
    {
      encoding: 'utf8',
      env: {
        AGENT_DATA_DIR: `${folder}/data`,
        AGENT_CONFIG_DIR: `${folder}/config`,
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      },
    },
  )
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr:
      'The configuration is not valid. OTEL_EXPORTER_OTLP_PROTOCOL: is neither http/protobuf nor http/json, for which collectors usually listen on port 4318.\n',
  })
})
