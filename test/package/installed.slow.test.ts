/**
 * What the packed file holds, and the file in an empty folder, as a user has it: npx, the demonstration, the
 * main flow by commands, and what is said when a native package is missing. `npm run test:package` installs
 * it globally, with all of its scripts, on each release of Node.js.
 */
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installFromCache, mainFlow, pack, reuseCompiledSqlite, type Packed } from './_package.ts'

/** It has `node_modules`, and is the HOME of the commands. */
const folder = mkdtempSync(join(tmpdir(), 'identity-agent-package-'))
let installed: string
let packed: Packed

beforeAll(async () => {
  packed = await pack(folder)
  installed = await installFromCache(folder, packed)
  reuseCompiledSqlite(installed)
  // The script that npm runs after a normal installation.
  expect(await run('node', [join(installed, 'bin/install.cjs')])).toEqual({ code: 0, out: '', err: '' })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a program with the environment of a user who has nothing but this installation. */
async function run(program: string, args: readonly string[]) {
  const path = [join(folder, 'node_modules/.bin'), process.env['PATH']].join(delimiter)
  const env = { PATH: path, HOME: folder, TMPDIR: folder, NO_COLOR: '1', npm_config_update_notifier: 'false' }
  const result = await execa(program, args, {
    cwd: folder,
    env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  })
  return { code: result.exitCode, out: result.stdout, err: result.stderr }
}

/** Runs a command while a package is not there. */
async function without(name: string, args: readonly string[]) {
  const compiled = 'identity-agent/node_modules/.sqlite-node20'
  const own = name === 'better-sqlite3' && Number(process.versions.napi) < 10 ? compiled : name
  const path = join(folder, 'node_modules', own)
  renameSync(path, `${path}-away`)
  try {
    return await run('agent', args)
  } finally {
    renameSync(`${path}-away`, path)
  }
}

test('the package holds the built program, its pages and licences, and nothing else', () => {
  const { files, size, unpackedSize } = packed
  const paths = files.map(({ path }) => path)
  const expected = [
    /^(package|oclif\.manifest)\.json$/,
    /^(README|ARCHITECTURE|CHANGELOG|CONTRIBUTING|SECURITY)\.md$/,
    /^LICENSE$/,
    /^bin\/(agent|daemon|worker|load|tui|install|node-version|sqlite)\.cjs$/,
    /^bin\/code-cache\.js$/,
    /^bin\/sqlite-node20\/package(-lock)?\.json$/,
    /^cli\/completion\/scripts\/(_agent|agent\.bash|agent\.fish)$/,
    /^dist\/.+(?<!\.map|\.cache)$/,
    /^docs\/(README|[a-z-]+|(how-to|operate|reference)\/[a-z0-9-]+|decisions\/(README|\d{4}-[a-z0-9-]+))\.md$/,
    /^docs\/images\/[a-z-]+\.(svg|png)$/,
    /^docs\/operate\/(grafana|prometheus)-[a-z]+\.(json|yml)$/,
    /^docs\/reference\/settings\.schema\.json$/,
    /^docs\/operate\/(nginx\.conf|Caddyfile)$/,
    /^docs\/examples\/[a-z0-9.-]+$/,
    /^man\/agent\.1$/,
  ]
  expect(paths.filter((path) => !expected.some((pattern) => pattern.test(path)))).toEqual([])
  // Each of them is needed: no pattern is without a file.
  expect(expected.filter((pattern) => !paths.some((path) => pattern.test(path)))).toEqual([])
  for (const path of [
    'dist/commands.cjs',
    'dist/daemon/agent.cjs',
    'dist/tui.js',
    'dist/LICENSES.txt',
    'dist/examples.json',
    'docs/reference/commands.md',
    'docs/reference/endpoints.md',
    'docs/reference/json.md',
  ])
    expect(paths).toContain(path)
  expect(size).toBeLessThan(7_500_000)
  expect(unpackedSize).toBeLessThan(26_000_000)
})

test('the scripts of npm link and of a git dependency run in the folder of the package', async () => {
  expect(await run('npm', ['run', 'prepare', '--prefix', installed])).toMatchObject({ code: 0, err: '' })
})

test('npx finds the program by the name of the package and runs the demonstration', async () => {
  const { code, out, err } = await run('npx', ['--no', '--', 'identity-agent', 'demo', '--json'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out)).toMatchObject({ scenario: 'present', changes: 53 })
})

test('the commands run the main flow, and V8 accepts the code that the installation has stored', async () => {
  const { code, out, err } = await run('bash', ['-c', mainFlow])
  expect(code, err).toBe(0)
  expect(out).toContain('PresentationVerified')
  const load = `const { load } = require('${join(installed, 'bin/load.cjs')}')`
  const uses = `[['commands.cjs', 'command'], ['commands.cjs', 'help'], ['daemon/agent.cjs', 'daemon']]`
  const script = `${load}; console.log(${uses}.map((use) => load(...use).script.cachedDataRejected).join())`
  expect((await run('node', ['--eval', script])).out).toBe('false,false,false')
})

test('a program imports both exports', async () => {
  const script = `import { createAgent } from 'identity-agent'
    import { createClient } from 'identity-agent/client'
    const agent = await createAgent()
    const client = createClient(agent.url, { apiKey: agent.apiKey })
    console.log((await client('GET /connections')).contents.length)
    await agent.close()`
  const { code, out, err } = await run('node', ['--input-type=module', '--eval', script])
  expect({ code, out, err }).toEqual({ code: 0, out: '0', err: '' })
})

test('AnonCreds are in the package', async () => {
  const script = `const { AnoncredsLoader } = require('${join(installed, 'dist/daemon/anoncreds.cjs')}')
    new AnoncredsLoader().createLinksecret().then((secret) => console.log(/^[0-9]+$/.test(secret)))`
  expect(await run('node', ['--eval', script])).toMatchObject({ code: 0, out: 'true' })
})

const wayOut =
  /^[^.]*SQLite [^]*: install identity-agent again \(npm i -g identity-agent, or npm ci in a clone\)[^\n]*\.$/

test('without SQLite, a start fails with one sentence, and doctor says it too', async () => {
  const start = await without('better-sqlite3', ['daemon', 'start', '--port', '0', '--didcomm-port', '0'])
  expect(start).toMatchObject({ code: 1, out: '' })
  expect(start.err).toMatch(wayOut)
  const { code, out } = await without('better-sqlite3', ['doctor', '--json'])
  const { checks } = JSON.parse(out) as { checks: { name: string; status: string; detail: string }[] }
  // No daemon answers.
  expect(code).toBe(7)
  const found = checks.filter(({ name }) => name === 'packages')
  expect(found).toMatchObject([{ status: 'failed', detail: expect.stringMatching(wayOut) as string }])
})

test('without libsecp256k1, doctor warns', async () => {
  const { out } = await without('secp256k1', ['doctor', '--json'])
  expect(out).toContain('libsecp256k1 (the package secp256k1) is not')
})
