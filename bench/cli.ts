/** Start time of the command line, next to a bare Node in the same run. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startAgent } from '../test/support/agent.ts'
import type { Outcome, Scale } from './_scenarios.ts'

const bin = fileURLToPath(new URL('../bin/agent.cjs', import.meta.url))
type Start = { name: string; args: string[]; /** How many times a bare Node it may take. */ goal?: number }

const starts: Start[] = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'agent --version', args: [bin, '--version'], goal: 1.5 },
  { name: 'agent --help', args: [bin, '--help'], goal: 2.5 },
  { name: 'agent explain', args: [bin, 'explain', 'exit-codes'], goal: 2.5 },
  { name: 'agent connection list --json', args: [bin, 'connection', 'list', '--json'], goal: 2.5 },
]

/** Runs the starts in turn, so that a slower machine affects all; once for wall time, once for CPU time. */
export async function runStarts({ quick }: Scale): Promise<Outcome> {
  const rounds = quick ? 5 : 21
  await using agent = await startAgent({ API_KEY_ENABLED: 'false' })
  const folder = mkdtempSync(join(tmpdir(), 'agent-bench-'))
  const meter = join(folder, 'meter.cjs')
  writeFileSync(
    meter,
    `process.on('exit', () => require('fs').writeSync(3, JSON.stringify(process.cpuUsage())))`,
  )
  const env = {
    PATH: process.env['PATH'],
    AGENT_URL: agent.url,
    AGENT_CONFIG_DIR: folder,
    NODE_ENV: 'production',
  }
  const times = new Map(starts.map(({ name }) => [name, { ms: [] as number[], cpuMs: [] as number[] }]))
  try {
    for (let round = 0; round < rounds + 1; round++) {
      for (const { name, args } of starts) {
        const begin = performance.now()
        await run(args, env)
        const ms = performance.now() - begin
        const { user, system } = JSON.parse(await run(['--require', meter, ...args], env)) as NodeJS.CpuUsage
        // The first round fills the disk cache.
        if (round > 0) times.get(name)!.ms.push(ms)
        if (round > 0) times.get(name)!.cpuMs.push((user + system) / 1_000)
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  const medians = starts.map(({ name, goal }) => ({
    name,
    goal,
    ms: median(times.get(name)!.ms),
    cpuMs: median(times.get(name)!.cpuMs),
  }))
  const [bare] = medians
  const rows = medians.map(({ name, ms, cpuMs, goal }) => {
    const ratios = { ratio: ms / bare!.ms, cpuRatio: cpuMs / bare!.cpuMs }
    return { name: `\`${name}\``, figures: { ms, cpuMs, ...ratios, ...(goal && { goal }) } }
  })
  return { tables: [{ title: 'Start-up of the command line, next to a bare Node', rows }], failures: [] }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** Runs Node to its end, and returns its output on descriptor 3. @throws if it fails. */
function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
  let written = ''
  let errors = ''
  child.stdio[3]!.on('data', (chunk) => (written += String(chunk)))
  child.stderr!.on('data', (chunk) => (errors += String(chunk)))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve(written) : reject(new Error(`node ${args.join(' ')}: ${code} ${errors}`)),
    )
  })
}
