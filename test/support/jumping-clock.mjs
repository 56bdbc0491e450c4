/**
 * Loaded into a process with `node --import`: its clocks and timers go on as usual until its parent sends the
 * message `jump`. Then all clocks are ahead by so many milliseconds more, and the timers that are due by then
 * run. So a simulated year takes as long as the work in it, and no time limit of a request ends early.
 */
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import timers from 'node:timers'
import promises from 'node:timers/promises'
import { promisify } from 'node:util'

const now = Date.now.bind(Date)
const steadyNow = performance.now.bind(performance)
const uptime = os.uptime.bind(os)
let aheadMs = 0

Date.now = () => now() + aheadMs
globalThis.Date = new Proxy(Date, {
  construct: (target, values, made) =>
    Reflect.construct(target, values.length > 0 ? values : [target.now()], made),
  apply: (target) => new target(target.now()).toString(),
})
performance.now = () => steadyNow() + aheadMs
os.uptime = () => uptime() + aheadMs / 1_000

/** The members of timers of Node.js, which has no other way to change when one is due. */
const [delay, isEnded] = ['_idleTimeout', '_destroyed']

/** Timers that wait, with their time by `performance.now`. */
const waiting = new Map()

const { setTimeout: startTimeout, setInterval: startInterval } = globalThis

function setTimeout(run, ms = 1, ...values) {
  const timer = startTimeout(() => {
    waiting.delete(timer)
    run(...values)
  }, ms)
  waiting.set(timer, performance.now() + ms)
  return timer
}

function setInterval(run, ms = 1, ...values) {
  const timer = startInterval(() => {
    waiting.set(timer, performance.now() + ms)
    run(...values)
  }, ms)
  waiting.set(timer, performance.now() + ms)
  return timer
}

function wait(ms, value, { signal, ref = true } = {}) {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(new DOMException('The operation was aborted', { name: 'AbortError', cause: signal.reason }))
    }
    if (signal?.aborted) return reject(new DOMException('The operation was aborted', 'AbortError'))
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve(value)
    }, ms)
    if (!ref) timer.unref()
    signal?.addEventListener('abort', abort, { once: true })
  })
}

setTimeout[promisify.custom] = wait
Object.assign(globalThis, { setTimeout, setInterval })
Object.assign(timers, { setTimeout, setInterval })
promises.setTimeout = wait
syncBuiltinESMExports()

process.on('message', (message) => {
  if (message?.type !== 'jump') return
  aheadMs += message.ms
  for (const [timer, at] of waiting) {
    if (timer[isEnded]) waiting.delete(timer)
    else {
      timer[delay] = Math.max(1, at - performance.now())
      timer.refresh()
    }
  }
  process.send({ type: 'jump' })
})
