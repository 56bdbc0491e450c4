/**
 * Loaded into a daemon with `node --import`: monitors event-loop stalls and uncaught errors. Answers the
 * message `watch` of its parent with the observations since the previous one, and with the memory after
 * garbage collection.
 *
 * A stall is the delay of a timer tick. `busyMs` is its CPU time. In the rest of `ms`, the thread waited for
 * the disk or a processor.
 */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { setTimeout as sleep } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'

const tickMs = 5
const kept = 20

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

/** CPU time of the main thread in milliseconds (proc(5), schedstat). */
const busy = () => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6

let last = { at: performance.now(), busy: busy() }
let stalls = []
let uncaught = []

function tick() {
  const now = { at: performance.now(), busy: busy() }
  const stall = { ms: now.at - last.at - tickMs, busyMs: now.busy - last.busy, at: Date.now() }
  last = now
  if (stall.ms < tickMs) return
  stalls.push(stall)
  if (stalls.length > 10 * kept) stalls = longest()
}
setInterval(tick, tickMs).unref()

function longest() {
  const by = (figure) => stalls.toSorted((a, b) => b[figure] - a[figure]).slice(0, kept)
  return [...new Set([...by('ms'), ...by('busyMs')])]
}

const note = (kind) => (error) => uncaught.push(`${kind}: ${error?.stack ?? error}`)
// Records unhandled rejections instead of ending the process, so that later ones are seen too.
process.on('unhandledRejection', note('unhandled rejection'))
process.on('uncaughtExceptionMonitor', note('uncaught exception'))

process.on('message', async (message) => {
  if (message?.type !== 'watch') return
  tick()
  const seen = {
    stalls: longest(),
    uncaught: uncaught.slice(0, kept),
    polluted: Reflect.ownKeys(Object.prototype).map(String),
  }
  // The second collection frees objects released by finalizers of the first.
  collect()
  await sleep(10)
  collect()
  const { rss, heapTotal, heapUsed } = process.memoryUsage()
  process.send({ type: 'watch', ...seen, heap: heapUsed, outside: rss - heapTotal })
  stalls = []
  uncaught = []
  last = { at: performance.now(), busy: busy() }
})
