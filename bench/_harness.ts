/** Measures operations: how often each runs in a second, and its CPU time, next to others in the same run. */
import { percentile } from '../test/faults/_samples.ts'
import type { Row } from './_results.ts'

/** An operation; `once` runs it once. */
export type Work = {
  name: string
  once: () => unknown
  /** The first operation of the list is compared with this one. */
  isPeer?: true
  /** A package of another agent; quick runs omit it. */
  isForeign?: true
  /** The intended maximum of the first operation's CPU time divided by this one's. */
  goal?: number
}

/** The operation of this agent. */
export const ofAgent = (once: Work['once']): Work => ({ name: 'identity-agent', once })

/** An operation that this agent is compared with. */
export const peer = (name: string, once: Work['once'], goal?: number): Work => ({
  name,
  once,
  isPeer: true,
  ...(goal !== undefined && { goal }),
})

/** The operation of a package of another agent. */
export const foreign = (name: string, once: Work['once']): Work => ({
  ...peer(name, once),
  isForeign: true,
})

/** Operations to compare, by title. Dispose of them after the measurement. */
export type Suites = { suites: Record<string, Work[]>; [Symbol.asyncDispose](): Promise<void> }

/**
 * The length of a run: the number of runs to warm up an operation or the CPU time that this may take, and the
 * number and length of rounds. Slow operations get fewer rounds.
 */
export type Effort = { warmUp: { times: number; cpuMs: number }; rounds: number; roundMs: number }

/** The average of one run of an operation in a round. */
type Round = { ms: number; cpuMs: number; times: number }

/** The minimum number of rounds. */
const leastRounds = 3

/**
 * Measures operations against each other, warm as in a long-running process. V8 compiles code after some
 * hundred runs and again after some thousand, on threads of the process; so all operations are warmed up
 * equally. Then they take turns in short rounds. A disturbance of the machine affects the whole round, so
 * ratios (the first operation's time divided by a peer's) are taken per round, and the median round counts.
 */
export async function measure(works: readonly Work[], { warmUp, rounds, roundMs }: Effort): Promise<Row[]> {
  await warmThemUp(works, warmUp, roundMs)
  const taken = works.map((): Round[] => [])
  const enough = performance.now() + 2 * rounds * roundMs * works.length
  for (let round = 0; round < rounds && (round < leastRounds || performance.now() < enough); round++) {
    // Alternate the order, so that an operation does not always collect the garbage of the same other one.
    const order = round % 2 === 0 ? [...works.keys()] : [...works.keys()].toReversed()
    for (const index of order) taken[index]!.push(await runFor(works[index]!, roundMs))
  }
  const first = taken[0]!
  return works.map(({ name, isPeer, goal }, index) => {
    const theirs = taken[index]!
    const ratioOf = (figure: 'ms' | 'cpuMs') =>
      median(theirs.map((each, round) => first[round]![figure] / each[figure]))
    const [ms, cpuMs] = [median(theirs.map((each) => each.ms)), median(theirs.map((each) => each.cpuMs))]
    const ratios = isPeer && { ratio: ratioOf('ms'), cpuRatio: ratioOf('cpuMs') }
    return {
      name,
      figures: { perSecond: 1_000 / ms, microseconds: cpuMs * 1_000, ...ratios, ...(goal && { goal }) },
    }
  })
}

/**
 * The wall-clock limit of a warm-up, as a multiple of its CPU time: operations wait for the disk and for
 * other processes.
 */
const patience = 8

/** Runs operations in turn until each is warm. */
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

/** Runs an operation for some time, and returns the average of one run. */
async function runFor({ once }: Work, milliseconds: number): Promise<Round> {
  const before = process.cpuUsage()
  const start = performance.now()
  let times = 0
  // Runs at least once, also on a slow machine.
  do {
    const result = once()
    if (result instanceof Promise) await result
    times++
  } while (performance.now() - start < milliseconds)
  const elapsed = performance.now() - start
  return { ms: elapsed / times, cpuMs: cpuMsSince(before) / times, times }
}

/** Disposes of the resources of several suites, the newest first. */
export function together(parts: readonly AsyncDisposable[]): () => Promise<void> {
  return async () => {
    for (const part of parts.toReversed()) await part[Symbol.asyncDispose]()
  }
}

/** Suites without resources. */
export function plain(suites: Record<string, Work[]>): Suites {
  return { suites, [Symbol.asyncDispose]: () => Promise.resolve() }
}
