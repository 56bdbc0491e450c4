/** A short round of `npm run test:faults`: daemons that die and fail lose nothing, double nothing and leave nothing hanging. */
import { expect, test } from 'vitest'
import { failAtRandom, killAtPoints, killAtRandom, type Outcome } from './_kills.ts'
import { judge } from './_model.ts'
import { losePower } from './_power.ts'
import type { Event } from '../../src/outbox/event.ts'

const faultless = { lost: [], doubled: [], unended: [] }
const faultsOf = ({ lost, doubled, unended }: Outcome) => ({ lost, doubled, unended })

test('killed at random moments', { timeout: 300_000 }, async () => {
  const outcome = await killAtRandom({ kills: 30, seed: 1, concurrency: 10 })
  expect(faultsOf(outcome)).toEqual(faultless)
  expect(outcome.kills).toBe(30)
})

test('killed before and after a commit, a message, a webhook and the fetching of a schema', { timeout: 300_000 }, async () => {
  const at = (first: string, second: string, nth: number) =>
    [
      { point: first, nth },
      { point: second, nth },
    ] as const
  // Schemas are fetched by the first daemon alone, which issues.
  const pairs = [
    at('schema:before', 'commit:after', 1),
    at('schema:after', 'message:before', 1),
    at('commit:before', 'message:after', 4),
    at('webhook:after', 'webhook:before', 3),
  ]
  const outcome = await killAtPoints(pairs, { concurrency: 2 })
  expect(faultsOf(outcome)).toEqual(faultless)
  expect(outcome.kills).toBe(8)
})

test('one step in ten fails, in half of the cases after it has happened', { timeout: 300_000 }, async () => {
  const outcome = await failAtRandom({ rate: 0.05, seed: 1, flows: 2 })
  expect(faultsOf(outcome)).toEqual(faultless)
})

test('the power goes during a commit', { timeout: 300_000 }, async () => {
  const { images, before, after, torn } = await losePower({ images: 30, seed: 1 })
  expect(torn).toEqual([])
  expect(before + after).toBe(images)
  expect(before).toBeGreaterThan(0)
  expect(after).toBeGreaterThan(0)
})

test('the model misses what is lost, finds what is doubled, and knows an end', () => {
  const say = (...states: string[]) =>
    states.map((state): Event => ({
      type: 'ConnectionUpdated',
      id: '',
      ts: '',
      walletId: 'w',
      data: { thid: 't', role: 'Inviter', state },
    }))
  const whole = ['InvitationGenerated', 'ConnectionRequestReceived', 'ConnectionResponsePending', 'ConnectionResponseSent']
  expect(judge(say(...whole))).toMatchObject({ records: 1, missing: [], doubled: [], unended: [] })
  expect(judge(say(...whole.slice(0, 3))).unended).toHaveLength(1)
  expect(judge(say(whole[0]!, whole[2]!, whole[3]!)).missing).toHaveLength(1)
  expect(judge(say(...whole.slice(1))).missing).toHaveLength(1)
  expect(judge(say(whole[0]!, whole[1]!, whole[1]!, ...whole.slice(2))).doubled).toHaveLength(1)
  expect(judge(say(whole[1]!, whole[0]!, ...whole.slice(2))).missing.length).toBeGreaterThan(0)
})
