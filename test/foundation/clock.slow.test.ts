/**
 * The system clock is set forward or back, during flows and while the daemon is down: nothing ends early, and
 * nothing stalls.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSteadyClock, isOver, steadyNow } from '../../src/foundation/clock.ts'
import { dueJobs, enqueue, reschedule } from '../../src/wallet/outbox/job.ts'
import { connect, connectionIn, oobOf, startPair, until } from '../support/tenants.ts'
import { Daemon } from '../support/daemon.ts'
import { openParty } from '../support/party.ts'
import { openReceiver } from '../support/receiver.ts'
import { temporaryWalletDb } from '../support/wallet-db.ts'

const hourMs = 3_600_000

describe('the steady clock', () => {
  const now = { wall: 1_000_000, awake: 50, running: 7_000 }
  const clock = () =>
    createSteadyClock({ wall: () => now.wall, awake: () => now.awake, running: () => now.running })
  const pass = (ms: number) => {
    for (const name of ['wall', 'awake', 'running'] as const) now[name] += ms
  }

  test('begins with the system clock and ignores its changes', () => {
    const read = clock()
    const start = now.wall
    pass(500)
    now.wall -= hourMs
    expect(read() - start).toBe(500)
    pass(500)
    now.wall += 24 * hourMs
    expect(read() - start).toBe(1_000)
  })

  test('reads the uptime no more than once a second', () => {
    let reads = 0
    const read = createSteadyClock({
      wall: () => now.wall,
      awake: () => now.awake,
      running: () => (reads++, now.running),
    })
    for (let n = 0; n < 1_000; n++) {
      read()
      pass(5)
    }
    expect(reads).toBeLessThanOrEqual(1 + 5)
  })

  test('includes the sleep of the machine, and never goes back', () => {
    const read = clock()
    const start = now.wall
    let last = start
    for (const [awake, running] of [
      [1_000, 1_010],
      [1_000, 990],
      [100, 5_000_100],
      [1_000, 1_000],
      [1_000, 1_008],
    ] as const) {
      now.awake += awake
      now.running += running
      expect(read()).toBeGreaterThanOrEqual(last)
      last = read()
    }
    expect(last - start).toBe(4_100 + 5_000_000)
  })
})

test('a rescheduled job is due when the clock was set back while the daemon was down', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const now = steadyNow()
  await db.transaction().execute(async (tx) => {
    await enqueue(tx, 'a', { kind: 'task', protocol: 'p', recordId: 'r', task: 'a' })
    await enqueue(tx, 'b', { kind: 'task', protocol: 'p', recordId: 'r', task: 'b' })
  })
  const [first] = (await dueJobs(db)).jobs
  await db.transaction().execute((tx) => reschedule(tx, first!, new Date(now + 60_000), new Date(now)))
  const queues = async (ms: number) => {
    const { jobs, nextAt } = await dueJobs(db, new Date(ms))
    return [jobs.map(({ queue }) => queue), nextAt?.getTime()]
  }
  expect(await queues(now)).toEqual([['b'], now + 60_000])
  expect(await queues(now + 60_000)).toEqual([['b', 'a'], undefined])
  expect(await queues(now - hourMs)).toEqual([['b', 'a'], undefined])
})

describe('during a flow', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  test.each([
    ['an hour back', -hourMs],
    ['a day ahead', 24 * hourMs],
  ])(
    '%s: an invitation can still be accepted, and a queued message and a queued event are retried',
    async (_, jumpMs) => {
      await using pair = await startPair()
      const { issuer, holder } = pair
      const jump = () => vi.setSystemTime(Date.now() + jumpMs)
      await using receiver = await openReceiver((response, count) =>
        response.writeHead(count === 1 ? 500 : 200).end(),
      )
      await using peer = await openParty({
        answer: (response, count) => response.writeHead(count < 3 ? 503 : 200).end(),
      })
      await issuer.call('POST /events/webhooks', { body: { url: receiver.url } })
      const made = await issuer.call('POST /connections', { body: {} })
      await peer.connect(issuer, 'ConnectionResponsePending')
      await until(
        'a first attempt at both',
        () => Promise.resolve([receiver.bodies.length, peer.envelopes.length]),
        ([events, messages]) => events! > 0 && messages! > 0,
      )
      jump()
      const { thid } = made
      await holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
      await connectionIn(holder.call, thid, 'ConnectionResponseReceived')
      await until(
        'another attempt at both',
        () => Promise.resolve([receiver.bodies.length, peer.envelopes.length]),
        ([events, messages]) => events! > 1 && messages! > 2,
      )
      const records = await until(
        'the end of both flows',
        async () => (await issuer.call('GET /connections')).contents,
        (contents) => contents.every(({ state }) => state === 'ConnectionResponseSent'),
      )
      expect(records).toHaveLength(2)
      await connect(issuer, holder)
    },
  )

  test('an instant has passed when both clocks say so', () => {
    const now = Date.now()
    vi.setSystemTime(now + hourMs)
    expect([isOver(now - 1_000), isOver(now + hourMs / 2)]).toEqual([true, false])
    vi.setSystemTime(now - hourMs)
    expect([isOver(now - 2 * hourMs), isOver(now - hourMs / 2)]).toEqual([true, false])
  })
})

test.each([
  ['an hour back', -hourMs],
  ['a day ahead', 24 * hourMs],
])(
  '%s while the daemon is down: a job with ten minutes of backoff runs at once, and is not abandoned',
  async (_, shiftMs) => {
    await using daemon = await Daemon.start({
      DEFAULT_WALLET_AUTH_API_KEY: 'the-tenant-of-the-test',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shiftedDate)}`,
      CLOCK_SHIFT: '0',
    })
    const apiKey = 'the-tenant-of-the-test'
    let isAway = true
    await using peer = await openParty({
      answer: (response) => response.writeHead(isAway ? 503 : 200, { 'retry-after': '600' }).end(),
    })
    const call = async (key: string, body?: unknown) => (await daemon.call(key, { apiKey, body })).body
    const { connectionId, thid, invitation } = await call('POST /connections', {})
    await peer.send(invitation.from, {
      type: 'https://atalaprism.io/mercury/connections/1.0/request',
      thid,
      pthid: thid,
    })
    const read = () => call(`GET /connections/${connectionId}`)
    await until('a first attempt', read, ({ metaLastFailure }) => metaLastFailure !== undefined)
    expect(await daemon.stop()).toBe(0)
    isAway = false
    daemon.env['CLOCK_SHIFT'] = String(shiftMs)
    await daemon.start()
    const { state } = await until('the end', read, (record) => record.state === 'ConnectionResponseSent')
    expect(state).toBe('ConnectionResponseSent')
  },
)

/** Runs first in the daemon: sets its clock `CLOCK_SHIFT` milliseconds ahead. */
const shiftedDate = `
  const Real = Date, shift = Number(process.env.CLOCK_SHIFT);
  globalThis.Date = class Date extends Real {
    constructor(...given) { given.length > 0 ? super(...given) : super(Real.now() + shift) }
    static now() { return Real.now() + shift }
  }`
