/** What is wrong with how the fuzz went, and its figures. */
import { z } from 'zod'
import type { Look, Outcome } from './_fuzz.ts'
import { parse } from './_learn.ts'

/**
 * Of a turn of the event loop, what the thread computes in it; of live memory, what it grows by after the
 * warm-up.
 */
export const limits = { stallMs: 100, growthMegabytes: 50 }

/** By then the caches are full, and what runs often is compiled. */
export const warmUpCases = 10_000

const megabyte = 2 ** 20
const Line = z.looseObject({ level: z.number() })

/** Megabytes that are left after a collection of garbage, in V8's heap and outside of it. */
export const live = ({ watched: { heap, outside } }: Look) => (heap + outside) / megabyte

/** The looks after the warm-up, or after the first half where there is less. */
function settled({ looks, cases }: Pick<Outcome, 'looks' | 'cases'>): Look[] {
  return looks.filter((look) => look.cases >= Math.min(warmUpCases, cases / 2))
}

/** How much more there is in memory in the end than after the warm-up, in megabytes. */
export function growth(outcome: Pick<Outcome, 'looks' | 'cases'>): number {
  const late = settled(outcome)
  return late.length === 0 ? NaN : live(late.at(-1)!) - live(late[0]!)
}

/** The longest stall, by the clock or by what the thread computed in it. */
export function longest({ looks }: Pick<Outcome, 'looks'>, by: 'ms' | 'busyMs'): number {
  return Math.max(0, ...looks.flatMap(({ watched }) => watched.stalls.map((stall) => stall[by])))
}

/** What must not be, in sentences. */
export function judge(outcome: Outcome): string[] {
  const { failures, looks, ended, log } = outcome
  const wrong = failures.map(({ told, reason }) =>
    told ? `case ${told.number}, ${told.way}: ${reason}\n  ${told.asked}` : reason,
  )
  for (const { watched, about } of looks) {
    wrong.push(...watched.uncaught)
    if (watched.polluted.length > ownOfPrototype)
      wrong.push(`Object.prototype has more members: ${watched.polluted.join(', ')}`)
    for (const { busyMs, during } of about) {
      if (busyMs > limits.stallMs)
        wrong.push(
          `the event loop stood still for ${busyMs.toFixed(0)} ms of computing, while: ${during.join('; ')}`,
        )
    }
  }
  const grown = growth(outcome)
  // Nothing to compare is not little growth.
  if (!(grown <= limits.growthMegabytes))
    wrong.push(`live memory grew by ${grown.toFixed(1)} MB, more than ${limits.growthMegabytes}`)
  if (ended !== 0) wrong.push(`the daemon did not end in good order: ${ended}`)
  const errors = log
    .split('\n')
    .filter((line) => line !== '' && (Line.safeParse(parse(line)).data?.level ?? 60) >= 50)
  wrong.push(...errors.slice(0, 20).map((line) => `the daemon logged an error: ${line.slice(0, 2_000)}`))
  return wrong
}

const ownOfPrototype = Reflect.ownKeys(Object.prototype).length
