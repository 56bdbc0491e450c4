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

/** Before its proof, Alice makes herself a credential with other claims, and presents that one. The page ends with the proof. */
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
agent daemon stop
-->
`
  const [before = '', rest = ''] = tutorial.split('## 6. Prove')
  const [prove = ''] = rest.split('The door reads the result:')
  return `${before}${forge}\n${prove}\n${refused}`
}

// Most of a page's time is waiting.
describe.skipIf(!hasTools)(
  'the examples (skipped without bash, curl 7.76, jq and openssl)',
  { concurrent: true },
  () => {
    test(
      'docs/tutorial.md, where the holder presents a credential that she has issued to herself: it is refused',
      { timeout: patienceMs + 60_000 },
      () => runPage('docs/tutorial.md', shared, withStranger),
    )

    test.for(pages.filter(hasBlocks))('%s', { timeout: patienceMs + 60_000 }, async (page, { skip }) => {
      skip(needsPostgres(page) && missingPostgres !== undefined, missingPostgres)
      await runPage(page, shared)
    })
  },
)
