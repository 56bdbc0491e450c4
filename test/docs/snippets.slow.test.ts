/** The examples of the README and of every page work: see `_run.ts`. */
import { spawnSync } from 'node:child_process'
import { afterAll, describe, test } from 'vitest'
import { pages } from '../_pages.ts'
import { missingPostgres } from '../_postgres-programs.ts'
import { startShared, type Shared } from './_prepared.ts'
import { hasBlocks, needsPostgres, patienceMs, runPage } from './_run.ts'

let agent: Promise<Shared> | undefined
const shared = () => (agent ??= startShared())
afterAll(async () => (await agent)?.[Symbol.asyncDispose]())

/** The tools of the examples. */
const tools = [
  ['bash', '--version'],
  ['curl', '--fail-with-body', '--version'],
  ['jq', '--version'],
  ['openssl', 'version'],
]
const hasTools = tools.every(([tool, ...args]) => spawnSync(tool!, args).status === 0)

// Most of a page's time is waiting.
describe.skipIf(!hasTools)(
  'the examples (skipped without bash, curl 7.76, jq and openssl)',
  { concurrent: true },
  () => {
    test.for(pages.filter(hasBlocks))('%s', { timeout: patienceMs + 60_000 }, async (page, { skip }) => {
      skip(needsPostgres(page) && missingPostgres !== undefined, missingPostgres)
      await runPage(page, shared)
    })
  },
)
