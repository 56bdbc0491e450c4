/** The examples of the README and of every page work: see `_run.ts`. */
import { spawnSync } from 'node:child_process'
import { afterAll, describe, test } from 'vitest'
import { pages } from '../support/pages.ts'
import { missingPostgres } from '../support/postgres-programs.ts'
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

/**
 * At the end, Alice makes herself a credential with other claims, and the door asks again: she presents that
 * one.
 */
function withStranger(tutorial: string): string {
  const forge = `<!-- run
own=$(agent did create --profile alice --publish --wait --quiet)
agent credential offer --invitation --issuing-did "$own" --claim name=Mallory --claim role=CEO --auto --profile alice >own.txt
credential=$(agent credential accept-invitation - --quiet --profile alice <own.txt)
agent credential accept "$credential" --subject "$alice" --wait --profile alice
-->
`
  const refused = `<!-- run
until { agent proof show "$proof" || true; } | grep -q 'does not trust the issuer'; do sleep 0.1; done
agent proof show "$proof" || [ $? = 8 ]
-->
`
  const [before = '', after = ''] = tutorial.split('## Look around')
  const [, prove = ''] = /## 6\. Prove(.*?)The door reads the result:/s.exec(tutorial) ?? []
  // Refused: exit code 5.
  const attempt = prove.replace(/--wait --profile alice$/m, '$& || [ $? = 5 ]')
  return `${before}${forge}\n${attempt}\n${refused}\n${after}`
}

// Most of a page's time is waiting.
describe.skipIf(!hasTools)(
  'the examples (skipped without bash, curl 7.76, jq and openssl)',
  { concurrent: true },
  () => {
    test.for(pages.filter(hasBlocks))('%s', { timeout: patienceMs + 60_000 }, async (page, { skip }) => {
      skip(needsPostgres(page) && missingPostgres !== undefined, missingPostgres)
      // Her proof of that credential is refused.
      await runPage(page, shared, page === 'docs/tutorial.md' ? withStranger : undefined)
    })
  },
)
