/** The log contains only its declared fields. */
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/foundation/config/config.ts'
import { createLog, type Fields } from '../../src/foundation/log.ts'
import { Secret } from '../../src/foundation/secret.ts'

const hidden = 'a-canary-that-must-stay-hidden'

/** The lines that `work` writes. */
function linesOf(
  work: (log: ReturnType<typeof createLog>) => void,
  level = 'trace',
): Record<string, unknown>[] {
  const lines: string[] = []
  work(createLog(level, { write: (line) => void lines.push(line) }))
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}
const about = (line: Record<string, unknown> | undefined) => {
  const { level: _level, time: _time, pid: _pid, hostname: _hostname, ...rest } = line ?? {}
  return rest
}

test('a line has its message, its fields, and the fields of its logger', () => {
  const [first, second, third, fourth] = linesOf((log) => {
    log.info('a message')
    const own = log.with({ requestId: 'request-1', walletId: 'w' })
    own.warn({ status: 401, walletId: 'v', thids: ['a', 'b'], isReplaced: true }, 'another')
    own.error('a third')
    own.with({ requestId: undefined, status: 7 }).info('a fourth')
  })
  expect(about(first)).toEqual({ msg: 'a message' })
  expect(about(second)).toEqual({
    requestId: 'request-1',
    walletId: 'v',
    status: 401,
    thids: ['a', 'b'],
    isReplaced: true,
    msg: 'another',
  })
  expect([second!['level'], third!['level']]).toEqual([40, 50])
  expect(about(third)).toEqual({ requestId: 'request-1', walletId: 'w', msg: 'a third' })
  expect(about(fourth)).toEqual({ requestId: 'request-1', walletId: 'w', status: 7, msg: 'a fourth' })
  expect(linesOf((log) => log.info('a message'), 'warn')).toEqual([])
  expect(linesOf((log) => log.fatal('a message'), 'silent')).toEqual([])
})

test('unknown fields and values of other types do not compile, and are left out', () => {
  const secret = new Secret(hidden)
  const config = readConfig({ ADMIN_TOKEN: hidden })
  const body: unknown = { apiKey: hidden }
  const more = { status: 200, ...(body as object) }
  const lines = linesOf((log) => {
    // @ts-expect-error a configuration has no log fields
    log.info(config, 'a configuration')
    // @ts-expect-error an unknown value is not a field
    log.info(body, 'a body')
    // @ts-expect-error unknown field
    log.info({ headers: { apikey: hidden } }, 'headers')
    // @ts-expect-error a secret is not a string
    log.info({ reason: secret }, 'a secret')
    // @ts-expect-error an object is not a string
    log.info({ url: { href: hidden } }, 'an object')
    // @ts-expect-error an object is not a string
    log.with({ url: { href: hidden } }).info('an object')
    log.info(more, 'a value with more members than its type')
    log.info({ err: { message: hidden } }, 'something that was thrown and is not an error')
    log.info({ err: secret, reason: secret.toString() }, 'a secret that was thrown')
  })
  expect(JSON.stringify(lines)).not.toContain(hidden)
  expect(lines.map(about)).toEqual([
    { msg: 'a configuration' },
    { msg: 'a body' },
    { msg: 'headers' },
    { msg: 'a secret' },
    { msg: 'an object' },
    { msg: 'an object' },
    { status: 200, msg: 'a value with more members than its type' },
    { err: { type: 'object' }, msg: 'something that was thrown and is not an error' },
    { err: { type: 'object' }, reason: '[secret]', msg: 'a secret that was thrown' },
  ])
})

test('an error is logged with type, message, code, stack and cause, without other properties', () => {
  const cause = Object.assign(new TypeError('why'), {
    request: { headers: { authorization: hidden } },
    code: 'ECONNREFUSED',
  })
  const [line] = linesOf((log) =>
    log.error({ err: Object.assign(new Error('what', { cause }), { body: hidden }) }, 'failed'),
  )
  expect(line!['err']).toEqual({
    type: 'Error',
    message: 'what',
    stack: expect.stringContaining('log.test.ts'),
    cause: { type: 'TypeError', code: 'ECONNREFUSED', message: 'why', stack: expect.any(String) },
  })
  expect(JSON.stringify(line)).not.toContain(hidden)
  const circle = new Error('round')
  circle.cause = circle
  expect(linesOf((log) => log.error({ err: circle }, 'failed'))).toHaveLength(1)
})

test('long texts from outside are cut, and stay on one line', () => {
  const fields: Fields = {
    reason: `a\n${'x'.repeat(1_000_000)}`,
    thids: Array.from({ length: 1_000 }, () => 'y'.repeat(5_000)),
  }
  const [line] = linesOf((log) => log.info(fields, 'long'))
  expect(JSON.stringify(line).length).toBeLessThan(30_000)
  expect((line!['reason'] as string).startsWith('a\nx')).toBe(true)
})

test('a secret prints as "[secret]" in every way', () => {
  const secret = new Secret(hidden)
  const texts = [
    JSON.stringify({ secret }),
    inspect({ secret }, { showHidden: true, depth: 10 }),
    String(secret),
    `in a text: ${secret as unknown as string}`,
    'joined ' + (secret as unknown as string),
    [secret].join(','),
    JSON.stringify({ ...secret }),
    inspect(Object.entries(secret)),
    JSON.stringify(structuredClone(secret)),
    new Error('failed', { cause: secret }).toString(),
    inspect(new Error('failed', { cause: secret })),
  ].join('\n')
  expect(texts).not.toContain(hidden)
  expect(secret.reveal()).toBe(hidden)
})
