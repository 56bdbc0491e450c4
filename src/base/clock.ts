/**
 * Time that goes on whatever becomes of the system's clock, which people and time servers set forward and back.
 *
 * What waits is due by `steadyNow`: both the moment that is written down and the moment of the look are its. Dates that are shown, or
 * that others have written, are the system's clock's; whether they are over is for `isOver` to say.
 */
import { uptime } from 'node:os'

/** Milliseconds since 1970 by the system's clock, since some moment while the machine is awake, and since the machine's start asleep or not. */
export type Sources = { wall: () => number; awake: () => number; running: () => number }

/** Below this, the two counts of milliseconds differ by nothing more than how finely they count. */
const sleepMs = 1_000

/** How long, awake, a sleep may go unnoticed: the system keeps the count of it in a file, which is read no more often than that. */
const lookMs = 1_000

/** A clock that begins with the system's and is not set any more; a machine that sleeps does not stop it. Never goes back. */
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

/** Milliseconds since 1970 as they were when the process started, and as many more as have gone by since. */
export const steadyNow = createSteadyClock({
  wall: () => Date.now(),
  awake: () => performance.now(),
  running: () => uptime() * 1_000,
})

/** Whether a moment by the system's clock (milliseconds since 1970) is over; not while either clock says that it is not. */
export function isOver(ms: number): boolean {
  return ms <= Date.now() && ms <= steadyNow()
}

/** When, by `steadyNow`, a moment by the system's clock will be over, if that is not set again. */
export function toSteady(ms: number): number {
  return ms + Math.max(0, steadyNow() - Date.now())
}
