/** Runs scenarios one after the other, and records the circumstances. */
import { execFileSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import type { Results } from './_results.ts'
import { full, quick, type Scenario } from './_scenarios.ts'
import { withinMinutes } from './_within.ts'

/** Runs scenarios. None starts after one that hangs, which would disturb it. */
export async function run(
  scenarios: readonly Scenario[],
  isQuick: boolean,
): Promise<{ results: Results; isHanging: boolean }> {
  const [date, before] = [new Date().toISOString(), load()]
  const tables: Results['tables'] = []
  const failures: string[] = []
  let hangs = false
  for (const { name, minutes, run: runOne } of scenarios) {
    process.stderr.write(`${name} …\n`)
    const outcome = await withinMinutes(minutes, () => runOne(isQuick ? quick : full))
    tables.push(...outcome.tables.map((table) => ({ scenario: name, ...table })))
    failures.push(...outcome.failures.map((failure) => `${name}: ${failure}`))
    hangs = outcome.isHanging
    if (hangs) break
  }
  const results = {
    date,
    revision: revision(),
    quick: isQuick,
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryMb: Math.round(totalmem() / 2 ** 20),
    files: isInMemory() ? ('in memory' as const) : ('on disk' as const),
    load: { before, after: load() },
    tables,
    failures,
  }
  return { results, isHanging: hangs }
}

function load(): number {
  return Math.round(loadavg()[0]! * 10) / 10
}

/** Linux's magic number of tmpfs, where a commit does not wait. */
const tmpfs = 0x01021994

function isInMemory(): boolean {
  return statfsSync(tmpdir()).type === tmpfs
}

/** The measured commit, if known, and whether files are changed. */
function revision(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'unknown'
  }
}
