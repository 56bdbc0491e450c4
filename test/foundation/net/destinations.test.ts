/**
 * Requests to other servers: limited per server, fair between wallets, and paused while a server is
 * unreachable.
 */
import { setImmediate as tick } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  createDestinations,
  NoFreeConnectionError,
  ServerDownError,
} from '../../../src/foundation/net/destinations.ts'
import { UnreachableError } from '../../../src/foundation/net/unreachable-error.ts'

const timeOut = () => Promise.reject(new UnreachableError('timeout', 'no answer'))
const failure = (run: Promise<unknown>) =>
  run.then(
    () => 'done',
    (error: unknown) => error as Error,
  )

/** Requests that run until they are released. */
function openRequests() {
  const ends: (() => void)[] = []
  return { ends, request: () => new Promise<void>((resolve) => ends.push(resolve)) }
}

test('sixteen requests run at a time per server', async () => {
  const { run } = createDestinations()
  const { ends, request } = openRequests()
  const runMany = (url: string) =>
    Array.from({ length: 20 }, (_, n) => failure(run(`${url}/${n}`, 'alice', request)))
  const first = runMany('http://a.example')
  const second = runMany('http://b.example')
  await tick()
  expect(ends).toHaveLength(32)
  for (const end of ends) end()
  for (const all of [await Promise.all(first), await Promise.all(second)]) {
    expect(all.filter((outcome) => outcome === 'done')).toHaveLength(16)
    expect(all.filter((outcome) => outcome instanceof NoFreeConnectionError)).toHaveLength(4)
  }
})

test('refused wallets are notified of a free connection one after the other', async () => {
  const { run } = createDestinations()
  const { ends, request } = openRequests()
  const notified: string[] = []
  for (let n = 0; n < 16; n++) void run('http://a.example', 'alice', request)
  for (const party of ['alice', 'alice', 'alice', 'bob', 'carol', 'bob']) {
    const error = await failure(run('http://a.example', party, request))
    expect(error).toBeInstanceOf(NoFreeConnectionError)
    void (error as NoFreeConnectionError).free.then(() => notified.push(party))
  }
  for (const end of ends) {
    end()
    await tick()
  }
  expect(notified).toEqual(['alice', 'bob', 'carol', 'alice', 'bob', 'alice'])
})

test('a connection that is not used is offered again', async () => {
  const { run } = createDestinations()
  const { ends, request } = openRequests()
  for (let n = 0; n < 16; n++) void run('http://a.example', 'alice', request)
  const refused = await Promise.all(
    Array.from({ length: 40 }, () => failure(run('http://a.example', 'bob', request))),
  )
  let notified = 0
  for (const error of refused) void (error as NoFreeConnectionError).free.then(() => notified++)
  for (const end of ends) end()
  await tick()
  expect(notified).toBe(40)
})

test('five timeouts in a row pause a server; a response or another failure is not a timeout', async () => {
  const { run } = createDestinations()
  const url = 'http://a.example/1'
  for (let n = 0; n < 4; n++) await failure(run(url, 'alice', timeOut))
  await run(url, 'alice', () => Promise.resolve('answered'))
  for (let n = 0; n < 4; n++) await failure(run(url, 'alice', timeOut))
  for (let n = 0; n < 9; n++) await failure(run(url, 'alice', () => Promise.reject(new Error('internal'))))
  await failure(run(url, 'alice', timeOut))
  const error = (await failure(run('http://a.example/2', 'bob', () => Promise.resolve()))) as ServerDownError
  expect(error).toBeInstanceOf(ServerDownError)
  expect(error.message).toContain('http://a.example')
  expect(error.waitMs).toBeGreaterThan(0)
  expect(error.waitMs).toBeLessThanOrEqual(1_000)
  expect(await failure(run('http://b.example', 'bob', () => Promise.resolve()))).toBe('done')
})

test('requests that wait for a connection fail as soon as the server is paused', async () => {
  const { run } = createDestinations()
  const fails: (() => void)[] = []
  const request = () =>
    new Promise((_, reject) => fails.push(() => reject(new UnreachableError('refused', 'gone'))))
  const first = Array.from({ length: 16 }, () => failure(run('http://a.example', 'alice', request)))
  const refused = await Promise.all(
    Array.from({ length: 30 }, () => failure(run('http://a.example', 'alice', request))),
  )
  for (const fail of fails) fail()
  await Promise.all(first)
  await Promise.all(refused.map((error) => (error as NoFreeConnectionError).free))
  expect(await failure(run('http://a.example', 'alice', request))).toBeInstanceOf(ServerDownError)
})

test('after the pause one request probes the server: a timeout means a longer pause, a response ends it', async () => {
  let now = 1
  const { run } = createDestinations(() => now)
  const url = 'http://a.example'
  for (let n = 0; n < 5; n++) await failure(run(url, 'alice', timeOut))
  const { waitMs } = (await failure(run(url, 'alice', timeOut))) as ServerDownError
  // No requests for a while.
  now += 40_000
  let fail = () => {}
  const trial = failure(
    run(
      url,
      'alice',
      () => new Promise((_, reject) => (fail = () => reject(new UnreachableError('timeout', 'no answer')))),
    ),
  )
  const other = await failure(run(url, 'bob', timeOut))
  expect(other).toBeInstanceOf(NoFreeConnectionError)
  fail()
  await Promise.all([trial, (other as NoFreeConnectionError).free])
  const again = (await failure(run(url, 'bob', timeOut))) as ServerDownError
  expect([waitMs, again.waitMs]).toEqual([1_000, 5_000])
  now += again.waitMs
  await run(url, 'bob', () => Promise.resolve())
  const { ends, request } = openRequests()
  for (let n = 0; n < 16; n++) void run(url, 'alice', request)
  await tick()
  expect(ends).toHaveLength(16)
})
