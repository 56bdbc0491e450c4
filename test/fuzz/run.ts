/**
 * `npm run test:fuzz -- --cases 150000 --seed 1`: sends requests generated from the OpenAPI document, and
 * DIDComm envelopes, to a daemon process. Prints answers and measurements. Exits with 1 on a fault: a 5xx, an
 * exit, an unhandled rejection, an event-loop stall of more than 100 ms of CPU time, more than 50 MB of
 * memory growth, or an error in the log.
 *
 * SIGINT ends it with the results so far. The seed determines the cases, but not ids, keys and timing.
 */
import { parseArgs } from 'node:util'
import { fuzz, type Outcome } from './_fuzz.ts'
import { growth, findFaults, live, longest } from './_faults.ts'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
})

let printed = 0
let isInterrupted = false
process.once('SIGINT', () => (isInterrupted = true))

const outcome = await fuzz({
  cases: Number(values.cases),
  seed: Number(values.seed),
  isEnough: () => isInterrupted,
  onMeasurement: (measurement, { failures }) => {
    for (const { result, reason } of failures.slice(printed))
      process.stderr.write(
        `${result?.number ?? ''} ${result?.way ?? ''} ${reason}\n  ${result?.asked ?? ''}\n`,
      )
    printed = failures.length
    const stall = Math.max(0, ...measurement.watched.stalls.map(({ busyMs }) => busyMs))
    process.stderr.write(
      `${measurement.cases} cases: ${failures.length} failures, ${live(measurement).toFixed(0)} MB (${(measurement.watched.heap / 2 ** 20).toFixed(0)} in the heap), longest stall ${stall.toFixed(0)} ms\n`,
    )
  },
})

/** Counts by status class for the matching keys. */
function classes(
  answers: Outcome['answers'],
  isMeant: (key: string) => boolean,
): Record<string, string | number> {
  const sums = new Map<string, number>()
  for (const [key, counts] of answers) {
    if (!isMeant(key)) continue
    for (const [status, count] of counts) {
      const name = status === 0 ? 'none' : `${Math.floor(status / 100)}xx`
      sums.set(name, (sums.get(name) ?? 0) + count)
    }
  }
  const all = [...sums.values()].reduce((sum, count) => sum + count, 0)
  const shares = [...sums]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => [name, `${count} (${((100 * count) / all).toFixed(1)} %)`])
  return { cases: all, ...Object.fromEntries(shares) }
}

const isEnvelope = (key: string) => key.startsWith('didcomm')
const isNoHttp = (key: string) => key === 'no HTTP'
console.table({
  API: classes(outcome.answers, (key) => !isEnvelope(key) && !isNoHttp(key)),
  envelopes: classes(outcome.answers, isEnvelope),
  'nearly HTTP': classes(outcome.answers, isNoHttp),
})
const never = [...outcome.answers].filter(
  ([key, counts]) =>
    key.includes(' /') && ![...counts.keys()].some((status) => status >= 200 && status < 300),
)
console.log(
  `operations that never succeeded: ${never.map(([key]) => key).join(', ') || 'none'}; asked: ${[...outcome.answers.keys()].filter((key) => key.includes(' /')).length}`,
)
console.log(
  `longest stall: ${longest(outcome, 'busyMs').toFixed(0)} ms of computing, ${longest(outcome, 'ms').toFixed(0)} ms by the clock`,
)
console.log(
  `live memory: ${growth(outcome).toFixed(1)} MB more than after the warm-up; seed ${outcome.seed}, ${outcome.cases} cases in ${outcome.seconds.toFixed(0)} s`,
)

const faults = findFaults(outcome)
for (const sentence of faults.slice(0, 50)) console.error(sentence)
process.exitCode = faults.length === 0 ? 0 : 1
