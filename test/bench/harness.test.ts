/** Works measured against each other. */
import { expect, test } from 'vitest'
import { measure } from '../../bench/_harness.ts'

test('all works are warmed up and done in rounds; ratios are those of peers, and slow works have fewer rounds', async () => {
  const calls = { ours: 0, theirs: 0, other: 0 }
  const works = [
    { name: 'ours', once: () => void calls.ours++ },
    {
      name: 'theirs',
      once: () => new Promise((resolve) => setTimeout(resolve, 5)).then(() => calls.theirs++),
      isPeer: true as const,
      goal: 1.2,
    },
    { name: 'another', once: () => void calls.other++ },
  ]
  const rows = await measure(works, { warmUp: { times: 2, cpuMs: 1_000 }, rounds: 10_000, roundMs: 0 })
  expect(rows.map(({ name, figures }) => [name, Object.keys(figures)])).toEqual([
    ['ours', ['perSecond', 'microseconds']],
    ['theirs', ['perSecond', 'microseconds', 'ratio', 'cpuRatio', 'goal']],
    ['another', ['perSecond', 'microseconds']],
  ])
  expect(rows[1]!.figures.ratio).toBeLessThan(1)
  // Twice to be warm, and in three rounds.
  expect(calls.theirs).toBeGreaterThanOrEqual(5)
  expect(calls.theirs).toBeLessThan(1_000)
})
