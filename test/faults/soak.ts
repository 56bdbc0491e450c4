/**
 * `npm run test:soak -- --minutes 30`: two daemons do the main job over and over; prints what memory, open files and write-ahead logs did after
 * the first third of the time, and exits with 1 when a flow failed.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout } from 'node:timers/promises'
import { runFlow } from './_flow.ts'
import { sample, slope } from './_samples.ts'
import { openTown } from './_town.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' }, concurrency: { type: 'string', default: '4' } } })
const minutes = Number(values.minutes)

await using town = await openTown()
const end = performance.now() + minutes * 60_000
let flows = 0
const failures: string[] = []

const runOn = async () => {
  while (performance.now() < end) await runFlow(town, `soak-${++flows}`).catch((error: unknown) => failures.push((error as Error).message))
}

/** Megabytes of the largest write-ahead log of a daemon. */
const largestLog = (folder: string) => {
  const logs = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('-wal'))
  return Math.max(0, ...logs.map((name) => statSync(join(folder, name)).size / 2 ** 20))
}

type Sample = { minute: number; memory: number; handles: number; log: number; flows: number }
const series: Sample[][] = town.daemons.map(() => [])

const watch = async () => {
  const start = performance.now()
  while (performance.now() < end) {
    await setTimeout(Math.min(5_000, (minutes * 60_000) / 60))
    for (const [n, daemon] of town.daemons.entries()) {
      const minute = (performance.now() - start) / 60_000
      series[n]!.push({ minute, ...sample(daemon.pid), log: largestLog(daemon.env['AGENT_DATA_DIR']!), flows })
    }
  }
}

await Promise.all([watch(), ...Array.from({ length: Number(values.concurrency) }, runOn)])

console.table(
  series.map((all) => {
    const late = all.filter(({ minute }) => minute >= minutes / 3)
    const handles = late.map((one) => one.handles)
    return {
      flows,
      'memory at the end (MB)': Number(late.at(-1)!.memory.toFixed(1)),
      'memory slope (MB an hour)': Number((slope(late.map(({ minute, memory }) => ({ x: minute / 60, y: memory }))) || 0).toFixed(2)),
      'memory slope (MB in 1000 flows)': Number((slope(late.map((one) => ({ x: one.flows / 1_000, y: one.memory }))) || 0).toFixed(2)),
      'open files': `${Math.min(...handles)} to ${Math.max(...handles)}`,
      'largest log (MB)': Number(Math.max(...late.map(({ log }) => log)).toFixed(1)),
    }
  }),
)
for (const failure of failures.slice(0, 20)) console.error(failure)
process.exitCode = failures.length === 0 ? 0 : 1
