/**
 * `npm run bench`: what the agent does in a second, next to others or to itself in the same run. `-- --json` prints the numbers alone; words
 * choose the suites that they occur in: `-- resolve`. Flows take some minutes and are measured only when they are named: `-- flows`; with `BENCH_PROFILE`, a
 * folder, CPU profiles of the daemons are written there.
 */
import { cpus, loadavg } from 'node:os'
import { measureStarts, toStartTable } from './cli.ts'
import { ed25519Suites, secp256k1Suites } from './credentials.ts'
import { openCacheSuites } from './did-cache.ts'
import { openDidWorks } from './did.ts'
import { packWorks, unpackWorks } from './didcomm.ts'
import { openEnterpriseSuites } from './enterprise.ts'
import { measureFlows, toFlowTable } from './flows/measure.ts'
import { measure, toTable } from './_harness.ts'

const startTitle = 'Start-up of the command line'
const flowsTitle = 'Flows of two daemons'
const words = process.argv.slice(2).filter((word) => !word.startsWith('-'))
const isWanted = (title: string) => words.length === 0 || words.some((word) => title.toLowerCase().includes(word.toLowerCase()))

// First, while nothing else of the run is there.
const starts = isWanted(startTitle) ? await measureStarts() : undefined

// Two daemons in processes of their own, which this one calls: the longest of all, so only when it is asked for.
const flows =
  words.length > 0 && isWanted(flowsTitle) ? await measureFlows({ tenants: [1, 100], concurrency: [1, 16, 64], seconds: 10 }) : undefined

await using dids = await openDidWorks()
await using caches = await openCacheSuites()
await using enterprise = await openEnterpriseSuites()

const suites = {
  'DIDComm: pack 1 KB authcrypt': packWorks,
  'DIDComm: unpack 1 KB authcrypt': unpackWorks,
  'DIDs, one after the other, on the embedded ledger': dids.works,
  ...caches.suites,
  ...enterprise.suites,
  ...secp256k1Suites(),
  ...(await ed25519Suites()),
}

const results: Record<string, Awaited<ReturnType<typeof measure>>> = {}
for (const [title, works] of Object.entries(suites)) if (isWanted(title)) results[title] = await measure(works)

const load = loadavg()[0]!.toFixed(1)
if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, cores: cpus().length, load, starts, flows, results }, null, 2))
} else {
  console.log(`Node ${process.version} on ${cpus().length} × ${cpus()[0]?.model}, load ${load}\n`)
  if (starts) console.log(`${toStartTable(startTitle, starts)}\n`)
  if (flows) console.log(`### ${flowsTitle}\n\n${toFlowTable(flows)}\n`)
  for (const [title, result] of Object.entries(results)) console.log(`${toTable(title, result)}\n`)
}
