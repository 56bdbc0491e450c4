/**
 * Loaded into a daemon with `node --import`: its system clock differs by the milliseconds in the file
 * TEST_CLOCK_FILE, which every thread reads ten times a second. `performance.now`, the uptime and timers go
 * on as they were.
 */
import { readFileSync } from 'node:fs'

const { now } = Date
let differenceMs = 0
const read = () => void (differenceMs = Number(readFileSync(process.env.TEST_CLOCK_FILE, 'utf8')))
read()
setInterval(read, 100).unref()

Date.now = () => now() + differenceMs
globalThis.Date = new Proxy(Date, {
  construct: (target, values, made) =>
    Reflect.construct(target, values.length > 0 ? values : [target.now()], made),
  apply: (target) => new target(target.now()).toString(),
})
