/**
 * A monotonic clock, since people and time servers set the system clock forward and back.
 *
 * The due times of jobs, and the comparisons with them, are by `steadyNow`. Dates in responses and messages
 * are by the system clock, and `isOver` compares them.
 */
import { uptime } from 'node:os'

/** Milliseconds: `wall` since 1970, `awake` and `running` monotonic, without and with the machine's sleep. */
export type Sources = { wall: () => number; awake: () => number; running: () => number }

/** Smaller differences between the monotonic sources are rounding. */
const sleepMs = 1_000

/** How often the clock checks for a sleep: the system keeps `uptime` in a file. */
const lookMs = 1_000

/**
 * A clock that starts at the system clock and ignores its changes. It includes the machine's sleep, and never
 * goes back.
 */
export function createSteadyClock({ wall, awake, running }: Sources): () => number {
  const [start, awakeAtStart, runningAtStart] = [wall(), awake(), running()]
  let [slept, lookedAt] = [0, 0]
  return () => {
    const since = awake() - awakeAtStart
    if (since - lookedAt >= lookMs) {
      lookedAt = since
      const ahead = running() - runningAtStart - since
      if (ahead - slept > sleepMs) slept = ahead
    }
    return Math.floor(start + since + slept)
  }
}

/** Milliseconds since 1970, as the system clock was at the start of the process, plus the time since then. */
export const steadyNow = createSteadyClock({
  wall: () => Date.now(),
  awake: () => performance.now(),
  running: () => uptime() * 1_000,
})

/** Whether a date by the system clock (milliseconds since 1970) is in the past of both clocks. */
export function isOver(ms: number): boolean {
  return ms <= Date.now() && ms <= steadyNow()
}

/**
 * The time so many seconds ago, ISO 8601: by the earlier of both clocks, so that a clock set forward makes
 * nothing old.
 */
export function timeAgo(seconds: number): string {
  return new Date(Math.min(Date.now(), steadyNow()) - seconds * 1_000).toISOString()
}

/** Converts a date by the system clock to `steadyNow`. */
export function toSteady(ms: number): number {
  return ms + Math.max(0, steadyNow() - Date.now())
}
