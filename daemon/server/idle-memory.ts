/**
 * Memory that the start, or a busy hour, has left behind, given back to the system while there is nothing to do: V8 by itself keeps room for as many new
 * objects as there have ever been at a time, some 20 MB after a start.
 */
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookMs = 10_000
/** Of the time, at most, in which something was done: a look takes the rest of it. */
const idleShare = 0.05
/** What is not worth a tenth of a second in which a request would wait. */
const leastBytes = 16 * 2 ** 20

/**
 * Looks now and then whether there is nothing to do, and more memory than after the last time. It keeps no process alive.
 *
 * V8's own way of it begins eight seconds after a collection: it has what is compiled for objects of which there are none at the moment thrown away, and
 * the next hundred flows cost twice as much.
 */
export function giveBackWhenIdle(): void {
  setFlagsFromString('--no-memory-reducer')
  const now = { use: performance.eventLoopUtilization(), kept: 0 }
  setInterval(() => {
    const use = performance.eventLoopUtilization()
    const isIdle = isIdleBetween(now.use, use)
    now.use = use
    if (!isIdle || process.memoryUsage().heapTotal < now.kept + leastBytes) return
    giveBack()
    now.kept = process.memoryUsage().heapTotal
  }, lookMs).unref()
}

/** Whether next to nothing was done between two looks at the event loop. */
export function isIdleBetween(before: EventLoopUtilization, after: EventLoopUtilization): boolean {
  return performance.eventLoopUtilization(after, before).utilization < idleShare
}

let collect: (() => void) | undefined

/** Collects all garbage and gives the room for it back, which takes a tenth of a second. What is compiled stays: V8 is not told that memory is short. */
export function giveBack(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
