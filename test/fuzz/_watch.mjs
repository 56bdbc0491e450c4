/**
 * Loaded into a daemon with `node --import`: watches its event loop and what nobody catches, and answers the message `watch` of its parent
 * with what was seen since the last one, and with what is in memory once all garbage is collected.
 *
 * A stall is the time between two ticks of a timer, less the tick. `busyMs` of it the thread was computing; it was waiting for the disk, or for
 * the processor that others had, in the rest of `ms`.
 */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { setTimeout as sleep } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'

const tickMs = 5
const kept = 20

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

/** Nanoseconds that the main thread has computed for, in milliseconds (proc(5), schedstat). */
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
// A rejection that nobody handles would end the process; here it is written down, so that the next one is seen too.
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
  // What one collection lets go of in finalizers, the next one takes.
  collect()
  await sleep(10)
  collect()
  const { rss, heapTotal, heapUsed } = process.memoryUsage()
  process.send({ type: 'watch', ...seen, heap: heapUsed, outside: rss - heapTotal })
  stalls = []
  uncaught = []
  last = { at: performance.now(), busy: busy() }
})
