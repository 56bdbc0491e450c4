/** Measuring: how often a piece of work is done in a second and what it takes of a processor, next to others in the same run. */
import type { Row } from './_results.ts'

/** A piece of work; `once` does it one time. */
export type Work = {
  name: string
  once: () => unknown
  /** That the first of the list is compared with it. */
  isPeer?: true
  /** How many times its processor time the first may take. */
  goal?: number
}

/** Works to be measured against each other, by their titles; disposed of when they are. */
export type Suites = { suites: Record<string, Work[]>; [Symbol.asyncDispose](): Promise<void> }

/** How long a run takes: works are done by turns, so that a machine that slows down slows all of them. */
export type Effort = { rounds: number; roundMs: number }

type Round = { ms: number; cpuMs: number }

/** Measures works against each other; the best round of each counts, the others were disturbed. A peer's ratios are what the first takes ÷ what it takes. */
export async function measure(works: readonly Work[], { rounds, roundMs }: Effort): Promise<Row[]> {
  const best = new Map<string, Round>()
  for (const work of works) await runFor(work, roundMs / 4)
  for (let round = 0; round < rounds; round++) {
    for (const work of works) {
      const [now, { ms, cpuMs } = now] = [await runFor(work, roundMs), best.get(work.name)]
      best.set(work.name, { ms: Math.min(ms, now.ms), cpuMs: Math.min(cpuMs, now.cpuMs) })
    }
  }
  const ours = best.get(works[0]!.name)!
  return works.map(({ name, isPeer, goal }) => {
    const { ms, cpuMs } = best.get(name)!
    const ratios = isPeer && { ratio: ours.ms / ms, cpuRatio: ours.cpuMs / cpuMs }
    return { name, figures: { perSecond: 1_000 / ms, microseconds: cpuMs * 1_000, ...ratios, ...(goal && { goal }) } }
  })
}

/** Does a work for so long, and says what one time took. */
async function runFor({ once }: Work, milliseconds: number): Promise<Round> {
  const before = process.cpuUsage()
  const start = performance.now()
  let count = 0
  while (performance.now() - start < milliseconds) {
    const result = once()
    if (result instanceof Promise) await result
    count++
  }
  const elapsed = performance.now() - start
  const { user, system } = process.cpuUsage(before)
  return { ms: elapsed / count, cpuMs: (user + system) / 1_000 / count }
}

/** Takes down what was opened for several suites, the last first. */
export function together(parts: readonly AsyncDisposable[]): () => Promise<void> {
  return async () => {
    for (const part of parts.toReversed()) await part[Symbol.asyncDispose]()
  }
}

/** Suites that have nothing to take down. */
export function plain(suites: Record<string, Work[]>): Suites {
  return { suites, [Symbol.asyncDispose]: () => Promise.resolve() }
}
