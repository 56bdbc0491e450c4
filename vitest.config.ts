/**
 * The name of a file says when its tests run (CONTRIBUTING.md, "Tests"): `x.test.ts` in `npm test`,
 * `x.slow.test.ts` in `npm run test:all`. Those of `x.store.test.ts` run over PostgreSQL too, in `npm run
 * test:all`.
 */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig, type Plugin } from 'vitest/config'
import { moduleOf } from './test/support/sources.ts'

// Reading these certificates takes longer than the rest of the start of Node.js, and no test needs them.
delete process.env['NODE_EXTRA_CA_CERTS']

// Temporary folders are in memory if there is room, because an agent waits for the disk at each commit. Files
// there survive the end of a process, as on a disk. `TMPDIR=/tmp npm test` uses the disk.
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

const compiledSources: Plugin = {
  name: 'compiled-sources',
  enforce: 'pre',
  resolveId: (id, importer = '') => moduleOf(id.startsWith('.') ? join(dirname(importer), id) : id),
}

const slow = 'test/**/*.slow.{test,store.test}.{ts,tsx}'

export default defineConfig({
  plugins: [compiledSources],
  test: {
    globalSetup: ['test/support/build.ts', 'test/support/shared-postgres.ts'],
    setupFiles: [
      'test/support/zod-messages.ts',
      'test/support/check-memory.ts',
      'test/support/store-setup.ts',
      'test/support/after-file.ts',
    ],
    // Twice the cores of a small machine, because tests often wait for processes. Each worker loads and
    // compiles the program for itself.
    maxWorkers: 4,
    isolate: false,
    // Caches compiled sources between runs.
    experimental: { fsModuleCache: true },
    // No test fails because the machine is busy: these limits only end what hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // The libraries of Sphereon print each of their events.
    onConsoleLog: (log) => !log.includes('(sphereon:events)'),
    projects: [
      { extends: true, test: { name: 'quick', include: ['test/**/*.test.{ts,tsx}'], exclude: [slow] } },
      { extends: true, test: { name: 'slow', include: [slow] } },
      {
        extends: true,
        test: { name: 'postgres', include: ['test/**/*.store.test.ts'], env: { TEST_STORE: 'postgres' } },
      },
    ],
  },
})
