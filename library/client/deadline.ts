/** Runs work until a time or a signal ends it. */
import { TimedOutError } from './errors.ts'

/** The `AbortSignal` of the platform, if the program has its types. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Type } } ? Type : any

export type Limits = {
  /** The time for all of the work. */
  timeoutMs: number
  /** Signals that end the work. */
  signals: readonly (Signal | undefined)[]
  /** The message when the time is over. */
  describe: () => string
}

/**
 * Runs `work`, which must end when its signal aborts.
 *
 * @throws the reason of the signal that has aborted. @throws {TimedOutError} @throws as `work` does
 */
export async function withLimits<T>(
  { timeoutMs, signals, describe }: Limits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const watched = signals.filter((each) => each !== undefined)
  const onAbort = () => controller.abort(watched.find(({ aborted }) => aborted)?.reason)
  if (watched.some(({ aborted }) => aborted)) onAbort()
  controller.signal.throwIfAborted()
  for (const each of watched) each.addEventListener('abort', onAbort)
  const onTimeout = () => controller.abort(new TimedOutError(describe(), timeoutMs))
  const timer = timeoutMs === Infinity ? undefined : setTimeout(onTimeout, timeoutMs)
  try {
    return await work(controller.signal)
  } catch (error) {
    controller.signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
    for (const each of watched) each.removeEventListener('abort', onAbort)
  }
}

/** A time limit. @throws {TypeError} when a timer cannot have it. */
export function checkTimeout(timeoutMs: number): number {
  const longest = 2 ** 31 - 1
  if (timeoutMs === Infinity || (timeoutMs > 0 && timeoutMs <= longest)) return timeoutMs
  throw new TypeError(`timeoutMs: it must be a number of milliseconds from 1 to ${longest}, or Infinity.`)
}
