/**
 * `npm run test:faults -- --rounds 1000 --seed 1`: kills daemons at random moments and at every named point,
 * and lets one step in twenty fail. Prints the results, and exits with 1 when anything was lost, duplicated
 * or left unfinished. `--images 300` simulates power loss, `--waiting 10000` has a receiver that never
 * answers, `--only random` (or a part of another name) selects a part.
 */
import { parseArgs } from 'node:util'
import { add, failAtRandom, killAtPoints, killAtRandom, nothing, points, type Outcome } from './_kills.ts'
import { losePower } from './_power.ts'
import { watchNeighbour } from './_slow-receiver.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    concurrency: { type: 'string', default: '50' },
    depth: { type: 'string', default: '12' },
    images: { type: 'string', default: '0' },
    waiting: { type: 'string', default: '0' },
    only: { type: 'string' },
  },
})
const number = (name: 'rounds' | 'seed' | 'concurrency' | 'depth' | 'images' | 'waiting') =>
  Number(values[name])
const [rounds, seed, concurrency, depth] = [
  number('rounds'),
  number('seed'),
  number('concurrency'),
  number('depth'),
]

/** Kills per pair of daemons. A new pair keeps the event records short. */
const killsPerSetup = 50

const table: Record<string, Outcome> = {}
const isWanted = (name: string) => values.only === undefined || name.includes(values.only)

if (isWanted('random')) {
  let sum = nothing()
  for (let done = 0; done < rounds; done += killsPerSetup) {
    sum = add(
      sum,
      await killAtRandom({ kills: Math.min(killsPerSetup, rounds - done), seed: seed + done, concurrency }),
    )
    process.stderr.write(
      `killed ${sum.kills} times: ${sum.flows} flows, lost ${sum.lost.length}, doubled ${sum.doubled.length}\n`,
    )
    for (const sentence of sum.lost.slice(0, 3)) process.stderr.write(`  ${sentence}\n`)
  }
  table['killed at random'] = sum
}
for (const point of points.filter(isWanted)) {
  const places = Array.from({ length: depth }, (_, n) => ({ point, nth: n + 1 }))
  const sum = await killAtPoints(
    places.map((place) => [place, place]),
    { concurrency: 2 },
  )
  table[`killed at ${point}`] = sum
  process.stderr.write(
    `killed at ${point} ${sum.kills} times: lost ${sum.lost.length}, doubled ${sum.doubled.length}\n`,
  )
}
if (isWanted('5 %')) table['5 % + 5 % faults'] = await failAtRandom({ rate: 0.05, seed, flows: concurrency })

const wrong: string[] = []
if (isWanted('power') && number('images') > 0) {
  const { torn, ...losses } = await losePower({ images: number('images'), seed })
  wrong.push(...torn)
  console.table({ 'power lost': { ...losses, torn: torn.length } })
}
if (isWanted('slow') && number('waiting') > 0) {
  const neighbourhood = await watchNeighbour({ waiting: number('waiting'), seconds: 20 })
  const { waiting, delivered, repeated } = neighbourhood
  if (delivered !== waiting || repeated > 0)
    wrong.push(`of ${waiting} events ${delivered} were delivered, ${repeated} more than once`)
  console.table(
    Object.fromEntries(
      Object.entries(neighbourhood).map(([name, value]) => [name, Number(value.toFixed(1))]),
    ),
  )
}
if (Object.keys(table).length > 0)
  console.table(
    Object.fromEntries(
      Object.entries(table).map(([name, { lost, doubled, unended, slowest, ...counts }]) => [
        name,
        {
          ...counts,
          lost: lost.length,
          doubled: doubled.length,
          unended: unended.length,
          'slowest end (s)': Number(slowest.toFixed(1)),
        },
      ]),
    ),
  )
wrong.push(...Object.values(table).flatMap(({ lost, doubled, unended }) => [...lost, ...doubled, ...unended]))
for (const sentence of wrong.slice(0, 50)) console.error(sentence)
process.exitCode = wrong.length === 0 ? 0 : 1
