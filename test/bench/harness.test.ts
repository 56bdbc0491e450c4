/** Measures workloads against each other. */
import { expect, test } from 'vitest'
import { measure } from '../../bench/_harness.ts'

test('all workloads are warmed up and measured in rounds; ratios compare peers, and slow workloads have fewer rounds', async () => {
  const calls = { measured: 0, peer: 0, other: 0 }
  const works = [
    { name: 'measured', once: () => void calls.measured++ },
    {
      name: 'peer',
      once: () => new Promise((resolve) => setTimeout(resolve, 5)).then(() => calls.peer++),
      isPeer: true as const,
      goal: 1.2,
    },
    { name: 'another', once: () => void calls.other++ },
  ]
  const rows = await measure(works, { warmUp: { times: 2, cpuMs: 1_000 }, rounds: 10_000, roundMs: 0 })
  expect(rows.map(({ name, figures }) => [name, Object.keys(figures)])).toEqual([
    ['measured', ['perSecond', 'microseconds']],
    ['peer', ['perSecond', 'microseconds', 'ratio', 'cpuRatio', 'goal']],
    ['another', ['perSecond', 'microseconds']],
  ])
  expect(rows[1]!.figures.ratio).toBeLessThan(1)
  // Two warm-up runs and three rounds.
  expect(calls.peer).toBeGreaterThanOrEqual(5)
  expect(calls.peer).toBeLessThan(1_000)
})
