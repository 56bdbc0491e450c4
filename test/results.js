/** Prints the counts of dist/test-results.json, summed over the projects of the runs. */
import { readFileSync } from 'node:fs'

const runs = Object.values(JSON.parse(readFileSync('dist/test-results.json', 'utf8')))
const sum = (name) => runs.reduce((total, run) => total + run[name], 0)
for (const name of runs.flatMap(({ flaky }) => flaky)) console.log(`flaky: ${name}`)
console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
