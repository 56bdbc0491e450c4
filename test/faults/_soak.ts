/** Two daemons that repeat flows, measured between rounds, and the detection of leaks. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { memory } from '../../cli/daemon/launch.ts'
import type { Daemon } from '../_daemon.ts'
import { runFlow } from './_flow.ts'
import { fit, sample } from './_samples.ts'
import { openSetup } from './_setup.ts'

const preload = fileURLToPath(new URL('_memory.mjs', import.meta.url))

/** The number of flows after which caches are full and hot code is compiled. */
export const warmUpFlows = 1_000

/**
 * Limits: growth of live memory per hour, V8's garbage at any time, total growth of open files and handles,
 * and the size of a log.
 *
 * Resident memory is live memory and that room. V8 gives back what is empty of it and takes it again by some
 * megabytes every few minutes, so that half an hour of it has no slope to speak of: there is a limit to the
 * room instead.
 */
export const limits = { megabytesAnHour: 1, roomMegabytes: 100, handles: 10, logMegabytes: 16 }

/** Fewer measurements are not enough for a regression. */
const fewLooks = 10

/**
 * A daemon at rest after a round, but for `resident`, which is what it had while it was at work. In
 * megabytes.
 */
export type Look = {
  hours: number
  flows: number
  /** Resident memory, garbage included. */
  resident: number
  /** V8's heap after garbage collection. */
  heap: number
  /** Resident memory outside of V8's heap: SQLite, OpenSSL, buffers, the program itself. */
  outside: number
  /** Open files, timers and sockets. */
  files: number
  handles: number
  /** The largest write-ahead log. */
  log: number
}

export type Soak = { looks: Look[][]; failures: string[] }

/** Live memory. */
export const live = ({ heap, outside }: Look) => heap + outside

/** V8's heap for garbage: uncollected and free. */
export const room = (look: Look) => look.resident - live(look)

export async function soak({
  minutes,
  concurrency,
}: {
  minutes: number
  concurrency: number
}): Promise<Soak> {
  await using setup = await openSetup({ ...memory, NODE_OPTIONS: `--import=${preload}` })
  const looks: Look[][] = setup.daemons.map(() => [])
  const failures: string[] = []
  const [start, lengthMs] = [performance.now(), minutes * 60_000]
  const roundMs = Math.max(2_000, lengthMs / 90)
  let flows = 0

  const runUntil = async (end: number) => {
    while (performance.now() < end)
      await runFlow(setup, `soak-${++flows}`).catch((error: unknown) =>
        failures.push((error as Error).message),
      )
  }

  for (let end = start + roundMs; end <= start + lengthMs; end += roundMs) {
    const round = Promise.all(Array.from({ length: concurrency }, () => runUntil(end)))
    const residents = sampleAt(end - 100, setup.daemons)
    await round
    setup.book.forget()
    for (const [n, daemon] of setup.daemons.entries()) {
      const place = { hours: (performance.now() - start) / 3_600_000, flows, resident: (await residents)[n]! }
      looks[n]!.push({ ...place, ...(await look(daemon)) })
    }
  }
  return { looks, failures }
}

/** Measurements after the warm-up: a third of the time, and a minimum number of flows. */
export function settled(looks: readonly Look[]): Look[] {
  const end = looks.at(-1)?.hours ?? 0
  return looks.filter(({ hours, flows }) => hours >= end / 3 && flows >= warmUpFlows)
}

/** Exceeded limits of a daemon. The lower confidence bound of a slope counts. */
export function judge(looks: readonly Look[]): string[] {
  const late = settled(looks)
  if (late.length < fewLooks)
    return [
      `it did ${looks.at(-1)?.flows ?? 0} flows, too few to judge its memory by: it takes longer than that`,
    ]
  const wrong: string[] = []
  const { slope, error } = anHour(late, live)
  if (slope - 2 * error > limits.megabytesAnHour) {
    wrong.push(
      `live memory grew by ${slope.toFixed(1)} ± ${error.toFixed(1)} MB an hour, more than ${limits.megabytesAnHour}`,
    )
  }
  const widest = Math.max(...looks.map(room))
  if (widest > limits.roomMegabytes)
    wrong.push(`garbage had ${widest.toFixed(0)} MB, more than ${limits.roomMegabytes}`)
  for (const what of ['files', 'handles'] as const) {
    const grown = anHour(late, (one) => one[what]).slope * (late.at(-1)!.hours - late[0]!.hours)
    if (grown > limits.handles) wrong.push(`${what} grew by ${grown.toFixed(0)}, more than ${limits.handles}`)
  }
  const log = Math.max(...looks.map((one) => one.log))
  if (log > limits.logMegabytes)
    wrong.push(`a write-ahead log had ${log.toFixed(1)} MB, more than ${limits.logMegabytes}`)
  return wrong
}

export const anHour = (looks: readonly Look[], of: (look: Look) => number) =>
  fit(looks.map((one) => ({ x: one.hours, y: of(one) })))

async function sampleAt(time: number, daemons: readonly Daemon[]): Promise<number[]> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())))
  return daemons.map(({ pid }) => sample(pid).memory)
}

const Memory = z.object({
  resident: z.number(),
  committed: z.number(),
  used: z.number(),
  handles: z.number(),
})
const megabyte = 2 ** 20

async function look(daemon: Daemon): Promise<Omit<Look, 'hours' | 'flows' | 'resident'>> {
  const { resident, committed, used, handles } = Memory.parse(await daemon.exchange({ type: 'memory' }))
  return {
    heap: used / megabyte,
    outside: (resident - committed) / megabyte,
    files: sample(daemon.pid).handles,
    handles,
    log: largestLog(daemon.env['AGENT_DATA_DIR']!),
  }
}

/** Megabytes of the largest write-ahead log of a daemon. */
function largestLog(folder: string): number {
  const logs = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('-wal'),
  )
  return Math.max(0, ...logs.map((name) => statSync(join(folder, name)).size / megabyte))
}
