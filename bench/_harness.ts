/** Measuring: how often a piece of work is done in a second and what it takes of a processor, next to others in the same run. */
import { percentile } from '../test/faults/_samples.ts'
import type { Row } from './_results.ts'

/** A piece of work; `once` does it one time. */
export type Work = {
  name: string
  once: () => unknown
  /** That the first of the list is compared with it. */
  isPeer?: true
  /** That it is done by the package of another agent, which a quick run leaves out. */
  isForeign?: true
  /** How many times its processor time the first may take. */
  goal?: number
}

/** Works to be measured against each other, by their titles; disposed of when they are. */
export type Suites = { suites: Record<string, Work[]>; [Symbol.asyncDispose](): Promise<void> }

/** How long a run takes, for each work: how often it is done to be warm, or how much of a processor that may take, and then in so many rounds. Of works that take longer than a round, there are fewer. */
export type Effort = { warmUp: { times: number; cpuMs: number }; rounds: number; roundMs: number }

/** What one time took, on average of so many. */
type Round = { ms: number; cpuMs: number; times: number }

/** Of rounds, there are as many at least. */
const leastRounds = 3

/**
 * Measures works against each other as a process has them that runs for long. All are warmed up equally, since V8 compiles what has run some hundreds of times, and
 * again some thousands later, on threads whose time is the process's. Then they are done by turns, each a little in every round: what disturbs the machine
 * disturbs all, so that a ratio, what the first takes ÷ what a peer takes, is told for each round by itself. The median round counts.
 */
export async function measure(works: readonly Work[], { warmUp, rounds, roundMs }: Effort): Promise<Row[]> {
  await warmThemUp(works, warmUp, roundMs)
  const taken = works.map((): Round[] => [])
  const enough = performance.now() + 2 * rounds * roundMs * works.length
  for (let round = 0; round < rounds && (round < leastRounds || performance.now() < enough); round++) {
    // Forth and back, so that none comes after the same one always, whose garbage it would collect.
    const order = round % 2 === 0 ? [...works.keys()] : [...works.keys()].toReversed()
    for (const place of order) taken[place]!.push(await runFor(works[place]!, roundMs))
  }
  const ours = taken[0]!
  return works.map(({ name, isPeer, goal }, place) => {
    const theirs = taken[place]!
    const ratioOf = (figure: 'ms' | 'cpuMs') =>
      median(theirs.map((each, round) => ours[round]![figure] / each[figure]))
    const [ms, cpuMs] = [median(theirs.map((each) => each.ms)), median(theirs.map((each) => each.cpuMs))]
    const ratios = isPeer && { ratio: ratioOf('ms'), cpuRatio: ratioOf('cpuMs') }
    return {
      name,
      figures: { perSecond: 1_000 / ms, microseconds: cpuMs * 1_000, ...ratios, ...(goal && { goal }) },
    }
  })
}

/** How many times as long as its processor time a work may take to be warm: it waits for a disk, or others want the processor. */
const patience = 8

/** Does works by turns, each as often as that makes it warm. */
async function warmThemUp(
  works: readonly Work[],
  { times, cpuMs }: Effort['warmUp'],
  roundMs: number,
): Promise<void> {
  const cold = new Map(works.map((work) => [work, { times, cpuMs, ms: cpuMs * patience }]))
  while (cold.size > 0) {
    for (const [work, left] of cold) {
      const round = await runFor(work, roundMs)
      left.times -= round.times
      left.cpuMs -= round.cpuMs * round.times
      left.ms -= round.ms * round.times
      if (Math.min(left.times, left.cpuMs, left.ms) <= 0) cold.delete(work)
    }
  }
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** Does a work for so long, and says what one time took. */
async function runFor({ once }: Work, milliseconds: number): Promise<Round> {
  const before = process.cpuUsage()
  const start = performance.now()
  let times = 0
  // Once at least, however slow the machine is.
  do {
    const result = once()
    if (result instanceof Promise) await result
    times++
  } while (performance.now() - start < milliseconds)
  const elapsed = performance.now() - start
  return { ms: elapsed / times, cpuMs: cpuMsSince(before) / times, times }
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
