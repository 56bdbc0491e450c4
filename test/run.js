/**
 * Runs the tests of projects (`node test/run.js slow postgres`), or those of some files and folders (`… slow
 * test/cluster`). With `--repeat` it runs the files of failed tests once more, one at a time: what passes
 * only then is flaky, which is named and counted, and is a fault of the test or of the agent. `--strict`
 * fails for it. Writes the counts of each project to dist/test-results.json. `--record` writes the seconds to
 * test/times.json, which the documentation states.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { startVitest } from 'vitest/node'

/**
 * Runs files, or all if there are none in the list.
 * @param {string[]} files
 * @param {import('vitest/node').CliOptions} options
 */
async function run(files, options) {
  process.exitCode = 0
  const vitest = await startVitest('test', files, { watch: false, ...options })
  await vitest.close()
  const modules = vitest.state.getTestModules()
  // A file whose process ended has not finished.
  const unfinished = modules.filter((module) => ['queued', 'pending'].includes(module.state()))
  const failed = new Set(
    [...modules.filter((module) => !module.ok()), ...unfinished].map((module) => module.moduleId),
  )
  // An error outside of a test names the file that ran meanwhile. The end of a process names none.
  for (const { VITEST_TEST_PATH: path } of vitest.state.getUnhandledErrors())
    if (path !== undefined || unfinished.length === 0) failed.add(path ?? 'no file')
  if (process.exitCode !== 0 && failed.size === 0) failed.add('no file')
  const tests = modules.flatMap((module) =>
    [...module.children.allTests()].map((test) => ({
      file: module.moduleId,
      project: module.project.name,
      name: test.fullName,
      state: test.result().state,
    })),
  )
  return { failed, tests }
}

/** Adds members to a file of JSON. */
function add(path, members) {
  const known = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  writeFileSync(path, `${JSON.stringify({ ...known, ...members }, null, 2)}\n`)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repeat: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
const isProject = (name) => ['quick', 'slow', 'postgres'].includes(name)
const project = positionals.filter(isProject)
const files = positionals.filter((name) => !isProject(name))
if (values.record && files.length > 0) throw new Error('--record is for whole projects, without files')
const start = performance.now()
const { failed, tests } = await run(files, { project })
/** @type {string[]} */
const flaky = []
let results = tests
if (values.repeat && failed.size > 0) {
  console.log(`Once more: ${[...failed].map((path) => relative('', path)).join(', ')}`)
  const again = await run([...failed], { project, fileParallelism: false })
  const repeated = new Set(again.tests.map((test) => test.file))
  for (const path of failed) {
    if (again.failed.has(path) || !repeated.has(path)) continue
    failed.delete(path)
    const names = tests.flatMap((test) => (test.file === path && test.state === 'failed' ? [test.name] : []))
    for (const name of names.length > 0 ? names : ['an error outside of its tests'])
      flaky.push(`${relative('', path)} > ${name}`)
  }
  results = [...tests.filter((test) => !repeated.has(test.file)), ...again.tests]
}
// A file that fails before its first test counts as one.
for (const path of failed)
  if (!results.some((test) => test.file === path && test.state === 'failed'))
    results.push({ file: path, project: project[0], name: path, state: 'failed' })

const countOf = (tests) => {
  const count = (state) => tests.filter((test) => test.state === state).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
}
// Flaky tests count once, although a file may run in two projects.
add(
  'dist/test-results.json',
  Object.fromEntries(
    project.map((name, index) => {
      const counts = countOf(results.filter((test) => test.project === name))
      return [name, { ...counts, flaky: index === 0 ? flaky : [] }]
    }),
  ),
)
const seconds = Math.round((performance.now() - start) / 1000)
if (values.record) add('test/times.json', { [project.join(' ')]: seconds })
const { passed, failed: failures, skipped } = countOf(results)
for (const name of flaky) console.log(`flaky, it failed once and passed alone: ${name}`)
console.log(`${passed} passed, ${failures} failed, ${skipped} skipped, ${flaky.length} flaky, ${seconds} s`)
process.exitCode = failed.size > 0 || (values.strict && flaky.length > 0) ? 1 : 0
