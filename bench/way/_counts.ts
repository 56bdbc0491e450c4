/** The counts of one process in one step, as `_counter.mjs` and the kernel have them. */
import * as z from 'zod'
import { readIo, untilIdle } from './_process.ts'

/** A key with its count and its bytes. */
const List = z.array(z.tuple([z.string(), z.int(), z.int()]))

/**
 * The work of the program; `functions` are `[file, offset, name, count]`, and stacks are the keys of promises
 * and JSON texts.
 */
const Work = z.object({
  commits: z.int(),
  frames: z.int(),
  flushes: z.int(),
  functions: z.array(z.tuple([z.string(), z.int(), z.string(), z.int()])),
  statements: List,
  promises: List,
  parsed: List,
  produced: List,
})
export type Work = z.output<typeof Work>

/** The resources of the process, which counting the work would change. */
const Resources = z.object({ heapBytes: z.number(), turns: z.int() })
export type Resources = z.output<typeof Resources> & { reads: number; writes: number }

/** A process with the counter: `exchange` answers its messages. */
export type Counted = {
  pid: number
  exchange: (message: { type: string; collect?: boolean }) => Promise<unknown>
}

export type Step<Counts> = { name: string; counts: Counts[] }
/** Begins a step, which ends the one before. Without a name, it only ends that one. */
export type Next = (name?: string) => Promise<void>

/**
 * Runs something in steps, each until all processes are idle, and returns the work of each process in each
 * step.
 */
export function workOf(processes: readonly Counted[], run: (next: Next) => Promise<unknown>) {
  return inSteps(processes, run, async ({ exchange }) => {
    await exchange({ type: 'begin' })
    return async (): Promise<Work> => Work.parse(await exchange({ type: 'end' }))
  })
}

/** As `workOf`, for resources. */
export function resourcesOf(processes: readonly Counted[], run: (next: Next) => Promise<unknown>) {
  return inSteps(processes, run, async ({ pid, exchange }) => {
    await exchange({ type: 'begin', collect: true })
    const before = readIo(pid)
    return async (): Promise<Resources> => {
      const { reads, writes } = readIo(pid)
      const taken = Resources.parse(await exchange({ type: 'end' }))
      return { ...taken, reads: reads - before.reads, writes: writes - before.writes }
    }
  })
}

async function inSteps<Counts>(
  processes: readonly Counted[],
  run: (next: Next) => Promise<unknown>,
  begin: (process: Counted) => Promise<() => Promise<Counts>>,
): Promise<Step<Counts>[]> {
  const steps: Step<Counts>[] = []
  let current: { name: string; ends: (() => Promise<Counts>)[] } | undefined
  const pids = processes.map(({ pid }) => pid)
  const next: Next = async (name) => {
    await untilIdle(pids)
    if (current) {
      const { name: ended, ends } = current
      steps.push({ name: ended, counts: await Promise.all(ends.map((end) => end())) })
    }
    current = name === undefined ? undefined : { name, ends: await Promise.all(processes.map(begin)) }
  }
  await run(next)
  await next()
  return steps
}
