/**
 * `npm run test:backups -- --backups 100`: makes that many backups of two agents that issue credentials
 * meanwhile, verifies and restores each, and prints the results. Exits with 1 when anything is lost.
 * `--issuers 4` is the number of concurrent issuers.
 */
import { parseArgs } from 'node:util'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { backUpUnderLoad } from './_load.ts'

const { values } = parseArgs({
  options: { backups: { type: 'string', default: '20' }, issuers: { type: 'string', default: '4' } },
})

await using folder = await temporaryFolder()
const pairs = Math.ceil(Number(values.backups) / 2)
const { heldMs, ...outcome } = await backUpUnderLoad(folder.path, {
  backups: pairs,
  offersAtOnce: Number(values.issuers),
})
const sorted = heldMs.toSorted((a, b) => a - b)
console.log({ ...outcome, heldMs: { median: sorted[Math.floor(sorted.length / 2)], longest: sorted.at(-1) } })
process.exitCode = outcome.lost.length + outcome.faults.length > 0 ? 1 : 0
