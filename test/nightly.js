/**
 * Runs what takes hours: kills, soak, fuzzing, nodes, a simulated year and the package on each release of
 * Node.js, one after the other. Prints what failed at the end.
 */
import { spawnSync } from 'node:child_process'

const runs = [
  ['types'],
  ['test:faults', '--rounds', '1000', '--images', '300'],
  ['test:soak', '--minutes', '30'],
  ['test:fuzz', '--cases', '150000'],
  ['test:security', '--flips', '500', '--requests', '100000'],
  ['test:nodes', '--flows', '300'],
  ['test:tenants', '--wallets', '10000'],
  ['test:metrics', '--flows', '200'],
  ['test:backups', '--backups', '100'],
  ['test:double-clicks'],
  ['test:renewals'],
  ['test:package'],
  ['bench', '--quick', '--guard'],
]

const results = runs.map(([script, ...args]) => {
  const start = performance.now()
  const { status } = spawnSync('npm', ['run', script, '--', ...args], { stdio: 'inherit' })
  const minutes = ((performance.now() - start) / 60_000).toFixed(1)
  return { script, status, line: `${status === 0 ? 'passed' : 'failed'}  ${script}, ${minutes} min` }
})
for (const { line } of results) console.log(line)
process.exitCode = results.every(({ status }) => status === 0) ? 0 : 1
