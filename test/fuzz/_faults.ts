/** Detects faults in the result of a fuzz run. */
import * as z from 'zod'
import type { Measurement, Outcome } from './_fuzz.ts'
import { parse } from './_learn.ts'

/** CPU time of an event-loop iteration, and growth of live memory after the warm-up. */
export const limits = { stallMs: 100, growthMegabytes: 50 }

/** After this many cases, caches are full and hot code is compiled. */
export const warmUpCases = 10_000

const megabyte = 2 ** 20
const Line = z.looseObject({ level: z.number() })

/** Live memory in megabytes, inside and outside of V8's heap. */
export const live = ({ watched: { heap, outside } }: Measurement) => (heap + outside) / megabyte

/** Measurements after the warm-up, or in the second half of a shorter run. */
function afterWarmUp({ measurements, cases }: Pick<Outcome, 'measurements' | 'cases'>): Measurement[] {
  return measurements.filter((measurement) => measurement.cases >= Math.min(warmUpCases, cases / 2))
}

/** Growth of live memory after the warm-up in megabytes. */
export function growth(outcome: Pick<Outcome, 'measurements' | 'cases'>): number {
  const late = afterWarmUp(outcome)
  return late.length === 0 ? NaN : live(late.at(-1)!) - live(late[0]!)
}

/** The longest stall by the clock or by CPU time. */
export function longest({ measurements }: Pick<Outcome, 'measurements'>, by: 'ms' | 'busyMs'): number {
  return Math.max(0, ...measurements.flatMap(({ watched }) => watched.stalls.map((stall) => stall[by])))
}

/** Descriptions of all faults. */
export function findFaults(outcome: Outcome): string[] {
  const { failures, measurements, ended, log } = outcome
  const faults = failures.map(({ result, reason }) =>
    result ? `case ${result.number}, ${result.way}: ${reason}\n  ${result.asked}` : reason,
  )
  for (const { watched, about } of measurements) {
    faults.push(...watched.uncaught)
    if (watched.polluted.length > ownOfPrototype)
      faults.push(`Object.prototype has more members: ${watched.polluted.join(', ')}`)
    for (const { busyMs, during } of about) {
      if (busyMs > limits.stallMs)
        faults.push(
          `the event loop stalled for ${busyMs.toFixed(0)} ms of CPU time during: ${during.join('; ')}`,
        )
    }
  }
  const grown = growth(outcome)
  // NaN (no measurement) is a fault.
  if (!(grown <= limits.growthMegabytes))
    faults.push(`live memory grew by ${grown.toFixed(1)} MB, more than ${limits.growthMegabytes}`)
  if (ended !== 0) faults.push(`the daemon did not end in good order: ${ended}`)
  const errors = log
    .split('\n')
    .filter((line) => line !== '' && (Line.safeParse(parse(line)).data?.level ?? 60) >= 50)
  faults.push(...errors.slice(0, 20).map((line) => `the daemon logged an error: ${line.slice(0, 2_000)}`))
  return faults
}

const ownOfPrototype = Reflect.ownKeys(Object.prototype).length
