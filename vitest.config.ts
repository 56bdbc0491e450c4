/**
 * Three projects of tests: unit, system and interop. Run one with `npm run test:unit` and so on. The endurance runs are
 * scripts of their own (CONTRIBUTING.md, "Longer runs").
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Reading these certificates takes longer than the rest of the start of Node.js, and no test needs them.
delete process.env['NODE_EXTRA_CA_CERTS']

// Temporary folders are in memory if there is room, because an agent waits for the disk at each commit. Files there
// survive the end of a process, as on a disk. `TMPDIR=/tmp npm test` uses the disk.
const memory = '/dev/shm'
if (
  process.env['TMPDIR'] === undefined &&
  existsSync(memory) &&
  statfsSync(memory).bavail * statfsSync(memory).bsize > 2 ** 32
) {
  const folder = mkdtempSync(`${memory}/identity-agent-tests-`)
  process.env['TMPDIR'] = folder
  process.on('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // A process of a failed test may still write there.
    }
  })
}

const inRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Starts threads from the bundles, as in a daemon: compiling their sources takes half a second each. */
const builtPrograms: Plugin = {
  name: 'built-programs',
  enforce: 'pre',
  resolveId: (id, importer) =>
    id.endsWith('/program.ts') && importer?.startsWith(inRoot('src/'))
      ? inRoot('test/_program.ts')
      : undefined,
}

/** Folders whose tests call functions and start no agent. */
const unit = [
  'audit',
  'base',
  'bench',
  'credentials',
  'crypto',
  'dcql',
  'decode',
  'did',
  'didcomm',
  'schemas',
  'verification',
  'x509',
]
/** Folders whose tests run the software of others against the agent. */
const interop = ['identus']

const system = readdirSync(inRoot('test')).filter((folder) => ![...unit, ...interop].includes(folder))

/**
 * Files that take more than ten seconds, the longest ones first. They begin, so that no core waits for one of them at the
 * end: without the times of an earlier run, as in a new clone, vitest begins with the largest files.
 */
const long = `
  docs/snippets library/types commands/cli schemas/hostile commands/every-flow docs/examples faults/failing
  commands/start commands/json flows/main-flow commands/demo net/behind-proxy wallet-export/killed
  daemon/generated-client daemon/routes/anoncreds faults/killed-at-points daemon/start faults/killed-at-random
  wallet-export/altered commands/creddef commands/anoncreds commands/event base/clock fuzz/fuzz package/installed
  bench/way flows/anoncreds-refusals flows/connectionless-restart faults/full-disk daemon/reference-browser
  security/canary/canary commands/flows faults/key-rotation flows/adversaries oid4vci/mutation
`
  .trim()
  .split(/\s+/)
  .map((file) => inRoot(`test/${file}.test.ts`))

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      long.includes(moduleId) ? long.indexOf(moduleId) : long.length
    // A process runs the files of one project: all long ones are in `system`.
    const isOther = ({ project }: TestSpecification) => Number(project.name !== 'system')
    // oxlint-disable-next-line unicorn/no-array-sort -- it sorts a copy
    const usual = await super.sort(files)
    return usual.toSorted((a, b) => isOther(a) - isOther(b) || rank(a) - rank(b))
  }
}

/** Files of those folders that take more than five seconds. They run with the system tests, which fill both cores meanwhile. */
const slow = ['base/clock', 'bench/way', 'credentials/mutation', 'schemas/hostile'].map(
  (file) => `test/${file}.test.ts`,
)

/**
 * Files of the system tests that run over PostgreSQL too: the transactions of the store, the main flows, the suite, events and the outbox,
 * retention, tenants and keys, the mediator and the tenant matrix.
 */
const onPostgres = `
  daemon/isolation daemon/quotas did-registrar/publish enterprise/answers enterprise/submitted-did events/replay
  events/stream flows/anoncreds flows/connectionless flows/issue-credential flows/main-flow flows/present-proof
  flows/races flows/revocation issuer-certificates/issuer-certificates mediator/http mediator/identus oid4vci/restart outbox/resume protocols/idempotency protocols/receive protocols/retention
  storage/contract wallet/api-keys wallet/tenants wallet-export/suspended wallet-export/transfer
`
  .trim()
  .split(/\s+/)
  .map((file) => `test/${file}.test.ts`)

const testsIn = (folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.{ts,tsx}`)

export default defineConfig({
  plugins: [builtPrograms],
  test: {
    globalSetup: 'test/_build.ts',
    setupFiles: 'test/_zod-messages.ts',
    // Tests often wait for processes: four files at a time keep two cores busy.
    maxWorkers: 4,
    isolate: false,
    sequence: { sequencer: LongFirst },
    // Caches compiled sources between runs.
    experimental: { fsModuleCache: true },
    // No test fails because the machine is busy: these limits only end what hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // The libraries of Sphereon print each of their events.
    onConsoleLog: (log) => !log.includes('(sphereon:events)'),
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/*.test.ts', ...testsIn(unit)], exclude: slow },
      },
      {
        extends: true,
        test: { name: 'system', include: [...testsIn(system), ...slow] },
      },
      { extends: true, test: { name: 'interop', include: testsIn(interop) } },
      {
        extends: true,
        test: { name: 'postgres', include: onPostgres, env: { TEST_STORE: 'postgres' } },
      },
    ],
  },
})
