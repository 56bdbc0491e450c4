/**
 * Loaded into a daemon with `node --import`: answers its parent's message `meter` with the resources used
 * since the last one: `cpuMs` of the process, `mainMs` of its main thread (Linux), `delayMs`, the 99th
 * percentile of the event loop's delay, and `longestMs`, its maximum. With `BENCH_PROFILE`, a folder, it
 * writes a CPU profile of that time there. With `collect` it collects garbage first, so that the memory is
 * what is in use.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const resolution = 2
const delay = monitorEventLoopDelay({ resolution })
delay.enable()
let before = process.cpuUsage()
let mainBefore = mainMs()

const folder = process.env.BENCH_PROFILE
let profiles = 0
const session = folder && new Session()
session?.connect()
if (folder) mkdirSync(folder, { recursive: true })
await session?.post('Profiler.enable')

/** The processor time of the main thread; the other threads compile, collect garbage and flush files. */
function mainMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}

function collect() {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

async function profile() {
  if (profiles > 0) {
    const { profile } = await session.post('Profiler.stop')
    writeFileSync(join(folder, `${process.pid}-${profiles}.cpuprofile`), JSON.stringify(profile))
  }
  await session.post('Profiler.start')
  profiles++
}

process.on('message', async (message) => {
  if (message?.type !== 'meter') return
  if (message.collect) collect()
  if (folder) await profile()
  const { user, system } = process.cpuUsage(before)
  // The histogram includes the timer's own period.
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution)
  process.send({
    type: 'meter',
    cpuMs: (user + system) / 1_000,
    mainMs: mainMs() - mainBefore,
    delayMs: late(delay.percentile(99)),
    longestMs: late(delay.max),
    residentMb: process.memoryUsage.rss() / 2 ** 20,
  })
  before = process.cpuUsage()
  mainBefore = mainMs()
  delay.reset()
})
