/** Five hundred fuzz cases, and tests of the fault detection. `npm run test:fuzz` runs more. */
import { expect, test } from 'vitest'
import { fuzz, isAboutOthers, type Measurement, type Outcome } from './_fuzz.ts'
import { findFaults } from './_faults.ts'

const cases = 500

test(`${cases} requests and envelopes, without failures, exits, stalls or leaks`, async () => {
  const outcome = await fuzz({ cases, seed: 1 })
  expect(findFaults(outcome)).toEqual([])
  const all = [...outcome.answers.values()].flatMap((counts) => [...counts])
  expect(all.reduce((sum, [, count]) => sum + count, 0)).toBe(cases)
  // Requests reach handlers, not only the middleware.
  const good = all
    .filter(([status]) => status >= 200 && status < 300)
    .reduce((sum, [, count]) => sum + count, 0)
  expect(good / cases).toBeGreaterThan(0.15)
})

const megabyte = 2 ** 20
const measurement = (cases: number, watched: Partial<Measurement['watched']> = {}): Measurement => ({
  cases,
  watched: {
    stalls: [],
    uncaught: [],
    polluted: [],
    heap: 50 * megabyte,
    outside: 90 * megabyte,
    ...watched,
  },
  about: (watched.stalls ?? []).map(({ ms, busyMs }) => ({ ms, busyMs, during: ['GET /'] })),
})
const fine: Outcome = {
  seed: 1,
  cases: 100,
  seconds: 1,
  answers: new Map(),
  failures: [],
  measurements: [measurement(50), measurement(100)],
  ended: 0,
  log: '',
}

test('a good result has no faults', () => {
  expect(findFaults(fine)).toEqual([])
  const warning = JSON.stringify({ level: 40, msg: 'a webhook was not taken' })
  expect(findFaults({ ...fine, log: `${warning}\n` })).toEqual([])
  // A stall by the clock alone means that the machine was busy.
  expect(
    findFaults({
      ...fine,
      measurements: [measurement(50), measurement(100, { stalls: [{ ms: 900, busyMs: 20, at: 0 }] })],
    }),
  ).toEqual([])
})

test.each<[string, Partial<Outcome>]>([
  ['500', { failures: [{ reason: '500 {}' }] }],
  ['no answer', { failures: [{ reason: 'case 1: Error: no answer in 30000 ms' }] }],
  ['did not end in good order: SIGABRT', { ended: 'SIGABRT' }],
  ['did not end in good order: 1', { ended: 1 }],
  [
    'unhandled rejection',
    { measurements: [measurement(50), measurement(100, { uncaught: ['unhandled rejection: Error'] })] },
  ],
  [
    '101 ms of CPU time during: GET /',
    { measurements: [measurement(50), measurement(100, { stalls: [{ ms: 101, busyMs: 101, at: 0 }] })] },
  ],
  [
    'more members',
    {
      measurements: [
        measurement(50),
        measurement(100, { polluted: [...Reflect.ownKeys(Object.prototype).map(String), 'polluted'] }),
      ],
    },
  ],
  ['grew by 51.0 MB', { measurements: [measurement(50), measurement(100, { heap: 101 * megabyte })] }],
  ['grew by 60.0 MB', { measurements: [measurement(50), measurement(100, { outside: 150 * megabyte })] }],
  ['grew by NaN', { measurements: [] }],
  ['logged an error', { log: `${JSON.stringify({ level: 50, msg: 'a request failed' })}\n` }],
  ['logged an error', { log: 'FATAL ERROR: Reached heap limit\n' }],
])('reports %s', (sentence, change) => {
  expect(findFaults({ ...fine, ...change }).join()).toContain(sentence)
})

test('a 5xx counts as a fault, unless it reports an unreachable peer', () => {
  const answer = (status: number, text: string) => isAboutOthers({ status, type: 'application/json', text })
  expect(answer(501, '{"error":"service not available: this ledger holds did:prism"}')).toBe(true)
  expect(answer(501, '')).toBe(true)
  expect(answer(502, '{"type":"/errors/common/unreachable"}')).toBe(true)
  expect(answer(503, '{"detail":"did:web:x cannot be resolved now: it answered with 500"}')).toBe(true)
  expect(answer(500, '{"type":"error:InternalServerError"}')).toBe(false)
  expect(
    answer(503, '{"type":"error:ServiceUnavailable","detail":"Too many schemas are being checked."}'),
  ).toBe(false)
  expect(answer(507, '{"type":"error:InsufficientStorage"}')).toBe(false)
})
