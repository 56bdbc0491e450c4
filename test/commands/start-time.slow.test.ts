/**
 * The start time depends on sizes, stored code and loaded modules, not measured times
 * (docs/decisions/0063-start-time.md).
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

test.each([
  ['commands.cjs', 1_280],
  ['complete.cjs', 200],
  ['qr.cjs', 40],
  ['tui.js', 1_200],
  ['daemon/agent.cjs', 5_100],
  ['daemon/tracing.cjs', 80],
])('the bundle %s has at most %i KB', (name, most) => {
  expect(statSync(`${root}dist/${name}`).size / 1_000).toBeLessThan(most)
})

test('only the bundle that is loaded on demand has the SDK of OpenTelemetry', () => {
  const has = (name: string) =>
    readFileSync(`${root}dist/daemon/${name}`, 'utf8').includes('BatchSpanProcessor')
  expect([has('agent.cjs'), has('tracing.cjs')]).toEqual([false, true])
})

test('only the bundles that are loaded on demand have the library for certificates', () => {
  const has = (name: string) =>
    readFileSync(`${root}dist/daemon/${name}`, 'utf8').includes('BasicConstraintsExtension')
  expect(['agent.cjs', 'certificate.cjs', 'x509.cjs'].map(has)).toEqual([false, true, true])
})

test('only the bundle that is loaded on demand has the encoder of QR codes', () => {
  const has = (name: string) => readFileSync(`${root}dist/${name}`, 'utf8').includes('invalid border=')
  expect([has('commands.cjs'), has('qr.cjs')]).toEqual([false, true])
})

test('the bundle of the commands is ASCII', () => {
  expect(readFileSync(`${root}dist/commands.cjs`, 'utf8')).not.toMatch(/[^\0-\x7f]/)
})

test.each([
  ['commands.cjs', 'command'],
  ['commands.cjs', 'help'],
  ['daemon/agent.cjs', 'daemon'],
])('V8 accepts the stored code of %s for %s', (name, use) => {
  const code = `console.log(require('./bin/load.cjs').load('${name}', '${use}').script.cachedDataRejected)`
  expect(execFileSync(process.execPath, ['--eval', code], { cwd: root, encoding: 'utf8' })).toBe('false\n')
})

test('the daemon does not load undici before it calls', () => {
  const code = `require('./bin/load.cjs').load('daemon/agent.cjs', 'daemon'); console.log(process.moduleLoadList.join())`
  const loaded = execFileSync(process.execPath, ['--eval', code], { cwd: root, encoding: 'utf8' })
  expect(loaded).toContain('NativeModule http,')
  // undici loads the copy that Node.js has.
  expect(loaded).not.toContain('undici')
})

/** Prints at the end of a process the modules of Node.js that it has loaded, and `zod` if it has loaded zod. */
const report = `process.on('exit', () => {
  const names = process.moduleLoadList.map((each) => each.replace('NativeModule ', ''))
  if ('__zod_globalRegistry' in globalThis) names.push('zod')
  console.error('loaded:' + names)
})`

function modulesOf(argv: string[]): string[] {
  const preload = `data:text/javascript,${encodeURIComponent(report)}`
  const { stderr } = spawnSync(process.execPath, ['--import', preload, 'bin/agent.cjs', ...argv], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], AGENT_CONFIG_DIR: '/nowhere', AGENT_URL: 'http://127.0.0.1:1' },
  })
  return stderr.slice(stderr.indexOf('loaded:') + 'loaded:'.length).split(',')
}

test.each([
  // zod and the client are for commands that call the daemon.
  [
    ['explain', '7'],
    ['zod', 'crypto', 'http', 'perf_hooks', 'child_process'],
  ],
  // `perf_hooks` and `child_process` are of oclif's configuration, which only help needs.
  [
    ['connection', 'list'],
    ['crypto', 'perf_hooks', 'child_process', 'internal/deps/undici/undici'],
  ],
  [['--help'], ['zod', 'crypto', 'http']],
  [
    ['credential', 'offer', '--help'],
    ['zod', 'crypto', 'http'],
  ],
])('agent %j does not load %j', (argv, modules) => {
  const loaded = modulesOf(argv)
  expect(loaded).toContain('fs')
  expect(loaded.filter((each) => modules.includes(each))).toEqual([])
})
