/**
 * Runs all tests, and the files of failed ones once more, one at a time: a test that waits for processes can fail on a
 * busy machine. Names the tests that passed only then. Writes `N passed, N failed, N skipped` to dist/test-results.txt.
 */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { startVitest } from 'vitest/node'

/**
 * Runs files, or all if there are none in the list.
 * @param {string[]} files
 * @param {import('vitest/node').CliOptions} options
 */
async function run(files, options = {}) {
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
  for (const { VITEST_TEST_PATH: file } of vitest.state.getUnhandledErrors())
    if (file !== undefined || unfinished.length === 0) failed.add(file ?? 'no file')
  if (process.exitCode !== 0 && failed.size === 0) failed.add('no file')
  const results = (module) =>
    [...module.children.allTests()].map((test) => [test.fullName, test.result().state])
  return { failed, results: new Map(modules.map((module) => [module.moduleId, results(module)])) }
}

const { failed, results } = await run([])
if (failed.size > 0) {
  console.log(`Once more: ${[...failed].map((file) => relative('', file)).join(', ')}`)
  const again = await run([...failed], { fileParallelism: false })
  for (const file of failed) {
    if (again.failed.has(file) || !again.results.has(file)) continue
    failed.delete(file)
    const names = results.get(file).flatMap(([name, state]) => (state === 'failed' ? [name] : []))
    for (const name of names.length > 0 ? names : ['an error outside of its tests'])
      console.log(`failed once, passed alone: ${relative('', file)} > ${name}`)
  }
  for (const [file, each] of again.results) results.set(file, each)
}

// A file that fails before its first test counts as one.
const isCounted = (file) => results.get(file)?.some(([, state]) => state === 'failed')
for (const file of failed)
  if (!isCounted(file)) results.set(file, [...(results.get(file) ?? []), [file, 'failed']])

const states = [...results.values()].flat().map(([, state]) => state)
const count = (wanted) => states.filter((state) => state === wanted).length
const line = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
writeFileSync('dist/test-results.txt', `${line}\n`)
console.log(line)
process.exitCode = failed.size > 0 ? 1 : 0
