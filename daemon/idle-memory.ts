/**
 * Memory that the start, or a busy hour, has left behind, given back to the system while there is nothing to do: V8 by itself keeps room for as many new
 * objects as there have ever been at a time, some 20 MB after a start.
 */
import { createRequire } from 'node:module'
import type { Session } from 'node:inspector/promises'
import { performance, type EventLoopUtilization } from 'node:perf_hooks'

const lookMs = 10_000
/** Of the time, at most, in which something was done: a look takes the rest of it. */
const idleShare = 0.05
/** What is not worth a tenth of a second in which a request would wait. */
const leastBytes = 16 * 2 ** 20

/** Looks now and then whether there is nothing to do, and more memory than after the last time. It keeps no process alive. */
export function giveBackWhenIdle(): void {
  const now = { use: performance.eventLoopUtilization(), isGiving: false, kept: 0 }
  setInterval(() => {
    const use = performance.eventLoopUtilization()
    const isIdle = isIdleBetween(now.use, use)
    now.use = use
    if (!isIdle || now.isGiving || process.memoryUsage().heapTotal < now.kept + leastBytes) return
    now.isGiving = true
    // Nothing depends on it, and the next look comes.
    void giveBack()
      .catch(() => undefined)
      .then(() => Object.assign(now, { isGiving: false, kept: process.memoryUsage().heapTotal }))
  }, lookMs).unref()
}

/** Whether next to nothing was done between two looks at the event loop. */
export function isIdleBetween(before: EventLoopUtilization, after: EventLoopUtilization): boolean {
  return performance.eventLoopUtilization(after, before).utilization < idleShare
}

/** Collects all garbage and gives the room for it back, which takes a tenth of a second. A Node that has no inspector keeps it. */
export async function giveBack(): Promise<void> {
  if (!process.features.inspector) return
  const inspector = createRequire(import.meta.url)('node:inspector/promises') as { Session: new () => Session }
  const session = new inspector.Session()
  session.connect()
  try {
    // It tells V8 that memory is short, which nothing else in Node does.
    await session.post('HeapProfiler.enable')
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}
