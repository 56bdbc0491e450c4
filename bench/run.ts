/** `npm run bench`: what the agent does in a second, next to others in the same run. `-- --json` prints the numbers alone. */
import { cpus } from 'node:os'
import { packWorks, unpackWorks } from './didcomm.ts'
import { measure, toTable } from './_harness.ts'

const suites = { 'DIDComm: pack 1 KB authcrypt': packWorks, 'DIDComm: unpack 1 KB authcrypt': unpackWorks }

const results: Record<string, Awaited<ReturnType<typeof measure>>> = {}
for (const [title, works] of Object.entries(suites)) results[title] = await measure(works)

if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, cores: cpus().length, results }, null, 2))
} else {
  console.log(`Node ${process.version} on ${cpus().length} × ${cpus()[0]?.model}\n`)
  for (const [title, result] of Object.entries(results)) console.log(`${toTable(title, result)}\n`)
}
