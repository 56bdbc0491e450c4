/** How the tests run. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Every process of Node reads these certificates as it starts, which takes longer than the rest of its start. No test needs them.
delete process.env['NODE_EXTRA_CA_CERTS']

// Folders of the tests are in memory where there is room for them: an agent makes a dozen files, and waits for the disk with each commit.
// What is written there survives the end of a process as it does on a disk. `TMPDIR=/tmp npm test` is on the disk.
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
      // A process that outlives a test that failed still writes there.
    }
  })
}

/** What takes longest is begun first, so that no core waits for it in the end. */
const longest = [
  'faults/failing',
  'flows/main-job',
  'commands/demo',
  'faults/killed-at-points',
  'commands/json',
  'commands/start',
  'commands/examples',
  'faults/killed-at-random',
  'commands/cli',
  'commands/every-flow',
  'commands/readme',
  'flows/anoncreds-refusals',
  'daemon/start',
  'faults/full-disk',
  'fuzz/fuzz',
  'wallet-export/killed',
  'daemon/routes/anoncreds',
  'credentials/mutation',
  'wallet/keyring',
  'flows/adversaries',
  'commands/creddef',
  'net/behind-proxy',
  'daemon/pages-browser',
  'flows/connectionless-restart',
  'security/canary/canary',
  'flows/flow-expiry',
  'cli/tui/flow',
  'cli/tui/tmux',
  'daemon/isolation',
  'commands/event',
  'anoncreds/engine',
  'wallet-export/altered',
  'backup/killed',
  'backup/flows',
  'faults/key-rotation',
  'vdr/processes',
  'cli/tui/keys',
  'cli/tui/frames',
  'security/flips',
  'commands/qr-cli',
  'identus/anoncreds',
  'anoncreds/forgeries',
  'daemon/routes/events-stream',
  'base/clock',
].map((name) => `/test/${name}.test.ts`)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((name) => moduleId.includes(name))
      return index === -1 ? longest.length : index
    }
    // oxlint-disable-next-line unicorn/no-array-sort -- files, as vitest sorts them
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

const inRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Threads start from what the build made of their programs, as they do in a daemon: from its sources each takes half a second to make itself ready. */
const builtPrograms: Plugin = {
  name: 'built-programs',
  enforce: 'pre',
  resolveId: (id, importer) =>
    id.endsWith('/program.ts') && importer?.startsWith(inRoot('src/'))
      ? inRoot('test/_program.ts')
      : undefined,
}

export default defineConfig({
  plugins: [builtPrograms],
  test: {
    globalSetup: 'test/_build.ts',
    // Tests wait now and then, for processes above all: four files at a time keep two cores busy.
    maxWorkers: 4,
    isolate: false,
    // What is made of the sources is kept by their content: the next run need not make it again.
    experimental: { fsModuleCache: true },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    sequence: { sequencer: LongestFirst },
  },
})
