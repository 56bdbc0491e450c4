/** Other agents' servers: so much at a time, each party in turn, and nothing while one is dead. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createDestinations, CrowdedError, LeftAloneError } from '../../src/net/destinations.ts'
import { UnreachableError } from '../../src/net/unreachable-error.ts'

const silence = () => Promise.reject(new UnreachableError('timeout', 'nobody answered'))
const failure = (visit: Promise<unknown>) =>
  visit.then(
    () => 'done',
    (error: unknown) => error as Error,
  )

/** Requests that go on until they are told to end. */
function openRequests() {
  const ends: (() => void)[] = []
  return { ends, request: () => new Promise<void>((resolve) => ends.push(resolve)) }
}

test('a server is sent sixteen requests at a time, and another one as many', async () => {
  const { visit } = createDestinations()
  const { ends, request } = openRequests()
  const visits = (url: string) =>
    Array.from({ length: 20 }, (_, n) => failure(visit(`${url}/${n}`, 'alice', request)))
  const first = visits('http://a.example')
  const second = visits('http://b.example')
  await turn()
  expect(ends).toHaveLength(32)
  for (const end of ends) end()
  for (const all of [await Promise.all(first), await Promise.all(second)]) {
    expect(all.filter((outcome) => outcome === 'done')).toHaveLength(16)
    expect(all.filter((outcome) => outcome instanceof CrowdedError)).toHaveLength(4)
  }
})

test('who was turned away is told of a place, one party after the other', async () => {
  const { visit } = createDestinations()
  const { ends, request } = openRequests()
  const told: string[] = []
  for (let n = 0; n < 16; n++) void visit('http://a.example', 'alice', request)
  for (const party of ['alice', 'alice', 'alice', 'bob', 'carol', 'bob']) {
    const error = await failure(visit('http://a.example', party, request))
    expect(error).toBeInstanceOf(CrowdedError)
    void (error as CrowdedError).free.then(() => told.push(party))
  }
  for (const end of ends) {
    end()
    await turn()
  }
  expect(told).toEqual(['alice', 'bob', 'carol', 'alice', 'bob', 'alice'])
})

test('a place that nobody takes is offered again', async () => {
  const { visit } = createDestinations()
  const { ends, request } = openRequests()
  for (let n = 0; n < 16; n++) void visit('http://a.example', 'alice', request)
  const crowded = await Promise.all(
    Array.from({ length: 40 }, () => failure(visit('http://a.example', 'bob', request))),
  )
  let told = 0
  for (const error of crowded) void (error as CrowdedError).free.then(() => told++)
  for (const end of ends) end()
  await turn()
  expect(told).toBe(40)
})

test('five silences in a row, and a server is left alone; an answer or another kind of failure is no silence', async () => {
  const { visit } = createDestinations()
  const url = 'http://a.example/1'
  for (let n = 0; n < 4; n++) await failure(visit(url, 'alice', silence))
  await visit(url, 'alice', () => Promise.resolve('answered'))
  for (let n = 0; n < 4; n++) await failure(visit(url, 'alice', silence))
  for (let n = 0; n < 9; n++)
    await failure(visit(url, 'alice', () => Promise.reject(new Error('our own fault'))))
  await failure(visit(url, 'alice', silence))
  const error = (await failure(visit('http://a.example/2', 'bob', () => Promise.resolve()))) as LeftAloneError
  expect(error).toBeInstanceOf(LeftAloneError)
  expect(error.message).toContain('http://a.example')
  expect(error.waitMs).toBeGreaterThan(0)
  expect(error.waitMs).toBeLessThanOrEqual(1_000)
  expect(await failure(visit('http://b.example', 'bob', () => Promise.resolve()))).toBe('done')
})

test('those who wait for a place are told at once that the server is dead', async () => {
  const { visit } = createDestinations()
  const fails: (() => void)[] = []
  const request = () =>
    new Promise((_, reject) => fails.push(() => reject(new UnreachableError('refused', 'gone'))))
  const first = Array.from({ length: 16 }, () => failure(visit('http://a.example', 'alice', request)))
  const crowded = await Promise.all(
    Array.from({ length: 30 }, () => failure(visit('http://a.example', 'alice', request))),
  )
  for (const fail of fails) fail()
  await Promise.all(first)
  await Promise.all(crowded.map((error) => (error as CrowdedError).free))
  expect(await failure(visit('http://a.example', 'alice', request))).toBeInstanceOf(LeftAloneError)
})

test('after its rest one request finds out: silence means a longer rest, an answer that all may come', async () => {
  let now = 1
  const { visit } = createDestinations(() => now)
  const url = 'http://a.example'
  for (let n = 0; n < 5; n++) await failure(visit(url, 'alice', silence))
  const { waitMs } = (await failure(visit(url, 'alice', silence))) as LeftAloneError
  // Nobody asks for a while.
  now += 40_000
  let fail = () => {}
  const trial = failure(
    visit(
      url,
      'alice',
      () => new Promise((_, reject) => (fail = () => reject(new UnreachableError('timeout', 'nobody')))),
    ),
  )
  const other = await failure(visit(url, 'bob', silence))
  expect(other).toBeInstanceOf(CrowdedError)
  fail()
  await Promise.all([trial, (other as CrowdedError).free])
  const again = (await failure(visit(url, 'bob', silence))) as LeftAloneError
  expect([waitMs, again.waitMs]).toEqual([1_000, 5_000])
  now += again.waitMs
  await visit(url, 'bob', () => Promise.resolve())
  const { ends, request } = openRequests()
  for (let n = 0; n < 16; n++) void visit(url, 'alice', request)
  await turn()
  expect(ends).toHaveLength(16)
})
