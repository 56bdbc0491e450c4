/**
 * `npm run test:soak -- --minutes 30`: two daemons repeat flows. Prints memory, open files and write-ahead
 * logs after the warm-up, and exits with 1 when one of them grew beyond its limit (`_soak.ts`) or a flow
 * failed.
 *
 * Live memory is the memory after garbage collection, inside and outside of the heap. Resident memory also
 * includes V8's space for garbage.
 */
import { parseArgs } from 'node:util'
import { fit } from './_samples.ts'
import { anHour, judge, live, room, afterWarmUp, soak, type Measurement } from './_soak.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, concurrency: { type: 'string', default: '4' } },
})

const { measurements, failures } = await soak({
  minutes: Number(values.minutes),
  concurrency: Number(values.concurrency),
})
const names = ['issuer', 'holder']

/** `12.3 ± 0.4` */
const show = ({ slope, error }: { slope: number; error: number }, unit = 1) =>
  `${(slope * unit).toFixed(1)} ± ${(error * unit).toFixed(1)}`
const range = (values: number[]) => `${Math.min(...values)} to ${Math.max(...values)}`

function figures(all: readonly Measurement[]) {
  const late = afterWarmUp(all)
  // Short runs print their figures too.
  const some = late.length > 2 ? late : all
  const [first, last] = [some[0]!, some.at(-1)!]
  return {
    'flows before, and measured': `${first.flows}, ${last.flows - first.flows}`,
    'live memory (MB)': `${live(first).toFixed(1)} to ${live(last).toFixed(1)}`,
    'live memory (MB an hour)': show(anHour(some, live)),
    '  in the heap': show(anHour(some, ({ heap }) => heap)),
    '  outside of it': show(anHour(some, ({ outside }) => outside)),
    'live memory (bytes a flow)': show(fit(some.map((one) => ({ x: one.flows, y: live(one) }))), 2 ** 20),
    'resident memory (MB)': `${first.resident.toFixed(1)} to ${last.resident.toFixed(1)}`,
    '  of it for garbage': `${Math.min(...some.map(room)).toFixed(1)} to ${Math.max(...some.map(room)).toFixed(1)}`,
    'resident memory (MB an hour)': show(anHour(some, ({ resident }) => resident)),
    'open files': range(some.map(({ files }) => files)),
    'handles (timers, sockets)': range(some.map(({ handles }) => handles)),
    'largest log (MB)': Math.max(...all.map(({ log }) => log)).toFixed(1),
  }
}

const columns = measurements.map(figures)
console.table(
  Object.fromEntries(
    Object.keys(columns[0]!).map((name) => [
      name,
      Object.fromEntries(columns.map((column, n) => [names[n], column[name as 'open files']])),
    ]),
  ),
)

const wrong = measurements.flatMap((all, n) => judge(all).map((sentence) => `${names[n]}: ${sentence}`))
for (const sentence of [...wrong, ...failures.slice(0, 20)]) console.error(sentence)
process.exitCode = wrong.length + failures.length === 0 ? 0 : 1
