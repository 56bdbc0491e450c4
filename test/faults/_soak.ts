/** Two daemons that repeat flows, measured between rounds, and the detection of leaks. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { memory } from '../../cli/daemon/launch.ts'
import type { Daemon } from '../support/daemon.ts'
import { runFlow } from './_flow.ts'
import { fit, sample } from './_samples.ts'
import { openSetup } from './_setup.ts'

const preload = fileURLToPath(new URL('_memory.mjs', import.meta.url))

/** The number of flows after which caches are full and hot code is compiled. */
export const warmUpFlows = 1_000

/**
 * Limits: growth of live memory per hour, V8's garbage at any time, total growth of open files and handles,
 * and the size of a log. Resident memory is live memory plus V8's garbage. V8 frees and reallocates some
 * megabytes of it every few minutes, so half an hour gives no meaningful slope. Garbage has a limit on its
 * size instead.
 */
export const limits = { megabytesAnHour: 1, roomMegabytes: 100, handles: 10, logMegabytes: 16 }

/** Fewer measurements are not enough for a regression. */
const minMeasurements = 10

/** A measurement of a daemon at rest after a round, in megabytes. `resident` was measured during the round. */
export type Measurement = {
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

export type Soak = { measurements: Measurement[][]; failures: string[] }

/** Live memory. */
export const live = ({ heap, outside }: Measurement) => heap + outside

/** V8's heap for garbage: uncollected and free. */
export const room = (measurement: Measurement) => measurement.resident - live(measurement)

export async function soak({
  minutes,
  concurrency,
}: {
  minutes: number
  concurrency: number
}): Promise<Soak> {
  await using setup = await openSetup({ ...memory, NODE_OPTIONS: `--import=${preload}` })
  const measurements: Measurement[][] = setup.daemons.map(() => [])
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
    setup.webhook.forget()
    for (const [n, daemon] of setup.daemons.entries()) {
      const place = { hours: (performance.now() - start) / 3_600_000, flows, resident: (await residents)[n]! }
      measurements[n]!.push({ ...place, ...(await measurement(daemon)) })
    }
  }
  return { measurements, failures }
}

/** Measurements after the warm-up: a third of the time, and a minimum number of flows. */
export function afterWarmUp(measurements: readonly Measurement[]): Measurement[] {
  const end = measurements.at(-1)?.hours ?? 0
  return measurements.filter(({ hours, flows }) => hours >= end / 3 && flows >= warmUpFlows)
}

/** Exceeded limits of a daemon. The lower confidence bound of a slope counts. */
export function judge(measurements: readonly Measurement[]): string[] {
  const late = afterWarmUp(measurements)
  if (late.length < minMeasurements)
    return [
      `it did ${measurements.at(-1)?.flows ?? 0} flows, too few to judge its memory by: it takes longer than that`,
    ]
  const wrong: string[] = []
  const { slope, error } = anHour(late, live)
  if (slope - 2 * error > limits.megabytesAnHour) {
    wrong.push(
      `live memory grew by ${slope.toFixed(1)} ± ${error.toFixed(1)} MB an hour, more than ${limits.megabytesAnHour}`,
    )
  }
  const widest = Math.max(...measurements.map(room))
  if (widest > limits.roomMegabytes)
    wrong.push(`garbage had ${widest.toFixed(0)} MB, more than ${limits.roomMegabytes}`)
  for (const what of ['files', 'handles'] as const) {
    const grown = anHour(late, (one) => one[what]).slope * (late.at(-1)!.hours - late[0]!.hours)
    if (grown > limits.handles) wrong.push(`${what} grew by ${grown.toFixed(0)}, more than ${limits.handles}`)
  }
  const log = Math.max(...measurements.map((one) => one.log))
  if (log > limits.logMegabytes)
    wrong.push(`a write-ahead log had ${log.toFixed(1)} MB, more than ${limits.logMegabytes}`)
  return wrong
}

export const anHour = (measurements: readonly Measurement[], of: (measurement: Measurement) => number) =>
  fit(measurements.map((one) => ({ x: one.hours, y: of(one) })))

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

async function measurement(daemon: Daemon): Promise<Omit<Measurement, 'hours' | 'flows' | 'resident'>> {
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
