/** Rate limits per address. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readConfig, type Config } from '../../../src/foundation/config/config.ts'
import { createRateLimits } from '../../../src/exchange/mediator/rate-limits.ts'
import { RateLimited } from '../../../src/exchange/mediator/handler.ts'
import {
  mediateGrant,
  mediateRequest,
  newWallet,
  problemReport,
  refusalOf,
  startMediator,
} from './_mediator.ts'

const ratesWith = (config: Partial<Config>) => createRateLimits({ ...readConfig({}), ...config })

test('an address that enrols too many DIDs is refused with a waiting time; other addresses and enrolled wallets are not', async () => {
  await using mediator = await startMediator({ MEDIATOR_ENROLMENTS_PER_HOUR: 2 })
  const first = await mediator.enrolled()
  await mediator.enrolled()
  const late = newWallet('http://wallet.example/inbox')
  const packed = late.pack(mediator.did, { type: mediateRequest })
  // The second attempt must not be refused as a repetition: the same envelope may be sent again later.
  for (const _ of [1, 2]) {
    const problem = await refusalOf(mediator.take(packed))
    expect(problem).toBeInstanceOf(RateLimited)
    expect([problem.type, problem.status]).toEqual(['error:MediatorError:TooManyRequests', 429])
    expect((problem as RateLimited).waitSeconds).toBeGreaterThan(0)
    expect((problem as RateLimited).waitSeconds).toBeLessThanOrEqual(3_600)
  }
  expect(mediator.posts).toEqual([])
  expect((await mediator.ask(first, mediateRequest))?.type).toBe(mediateGrant)
  mediator.moveTo('192.0.2.2')
  expect((await mediator.ask(late, mediateRequest))?.type).toBe(mediateGrant)
})

test('on an open connection the refusal is a problem report', async () => {
  await using mediator = await startMediator({ MEDIATOR_ENROLMENTS_PER_HOUR: 1 })
  await mediator.enrolled()
  const report = await mediator.ask(newWallet(), mediateRequest, {}, {}, { send: () => undefined })
  expect(report).toMatchObject({
    type: problemReport,
    body: { code: 'e.p.req.time', args: ['enrolments', expect.stringMatching(/^\d+$/)] },
  })
})

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('a limit ends after its minute or hour', async () => {
  const rates = ratesWith({ MEDIATOR_MESSAGES_PER_MINUTE: 2, MEDIATOR_ENROLMENTS_PER_HOUR: 1 })
  await rates.countMessage('192.0.2.1')
  await rates.countEnrolment('192.0.2.1')
  vi.advanceTimersByTime(50_000)
  await rates.countMessage('192.0.2.1')
  await expect(rates.countMessage('192.0.2.1')).rejects.toMatchObject({
    waitSeconds: 10,
    args: ['messages', '10'],
  })
  await rates.countMessage('192.0.2.2')
  vi.advanceTimersByTime(10_000)
  await rates.countMessage('192.0.2.1')
  await expect(rates.countEnrolment('192.0.2.1')).rejects.toMatchObject({
    waitSeconds: 3_540,
    args: ['enrolments', '3540'],
  })
  vi.advanceTimersByTime(3_540_000)
  await rates.countEnrolment('192.0.2.1')
  vi.advanceTimersByTime(86_400_000)
  expect(vi.getTimerCount()).toBe(0)
})

test('an address has a daily limit, which refused enrolments do not use up', async () => {
  const rates = ratesWith({ MEDIATOR_ENROLMENTS_PER_HOUR: 1, MEDIATOR_ENROLMENTS_PER_DAY: 2 })
  await rates.countEnrolment('192.0.2.1')
  for (const _ of [1, 2, 3])
    await expect(rates.countEnrolment('192.0.2.1')).rejects.toMatchObject({ waitSeconds: 3_600 })
  vi.advanceTimersByTime(3_600_000)
  await rates.countEnrolment('192.0.2.1')
  vi.advanceTimersByTime(3_600_000)
  await expect(rates.countEnrolment('192.0.2.1')).rejects.toMatchObject({
    waitSeconds: 79_200,
    args: ['enrolments', '79200'],
  })
  await rates.countEnrolment('192.0.2.2')
  vi.advanceTimersByTime(79_200_000)
  await rates.countEnrolment('192.0.2.1')
})

test('the default limits allow a class or a test suite behind one address, and no address can use all accounts within days', async () => {
  const config = readConfig({})
  const rates = createRateLimits(config)
  for (let wallet = 0; wallet < 4 * 65; wallet++) await rates.countEnrolment('192.0.2.1')
  expect(config.MEDIATOR_ACCOUNT_LIMIT / config.MEDIATOR_ENROLMENTS_PER_DAY).toBeGreaterThan(6)
})

test('the number of counters is limited', async () => {
  const rates = ratesWith({})
  for (let n = 0; n < 100_000; n++) await rates.countMessage(`192.0.${n >> 8}.${n & 0xff}`)
  // Each counter has a timer that removes it.
  expect(vi.getTimerCount()).toBeGreaterThan(45_000)
  expect(vi.getTimerCount()).toBeLessThanOrEqual(65_536)
  vi.clearAllTimers()
})
