/** Every check is necessary: with any of them disabled, a forgery passes or is refused with another code. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { afterAll, expect, test } from 'vitest'
import { bundle, files, switchable } from './_mutants.ts'

/** Checks that are followed by another check with the same code. */
const redundant = [
  /is not acceptable JSON/,
  /throw malformed\(\(cause as Error\)/,
  /The \$\{part\} is not a JSON object/,
]

// Inside the project, where its packages are found.
mkdirSync('dist', { recursive: true })
const folder = mkdtempSync(resolve('dist/mutants-'))
afterAll(() => rmSync(folder, { recursive: true }))

/**
 * Runs the corpus without a mutant, then with each mutant up to the first unexpected result. Each run starts
 * at the case that detected the previous mutant, because neighbouring mutants are detected by neighbouring
 * cases. Mutants that act at load time get their own module instance.
 */
const program = `
  const [corpus, mutants] = process.argv.slice(1)
  const { runCorpus } = await import(corpus)
  let last = await runCorpus()
  console.log(JSON.stringify(last))
  for (const { check, atLoad } of JSON.parse(mutants)) {
    globalThis.mutant = check
    const run = atLoad ? import(corpus + '?' + encodeURIComponent(check)) : Promise.resolve({ runCorpus })
    const outcome = run.then(({ runCorpus }) => runCorpus({ stopAtFirst: true, from: last.at }))
    last = await outcome.catch((error) => ({ cases: 0, wrong: [String(error)], at: last.at }))
    console.log(JSON.stringify(last))
  }`

type Outcome = { cases: number; wrong: string[] }

test('the corpus detects every disabled check', { timeout: 300_000 }, async () => {
  const sources = files.map(switchable)
  const mutants = sources.flatMap((source) => source.mutants)
  expect(mutants.length).toBeGreaterThan(70)
  const corpus = join(folder, 'corpus.mjs')
  writeFileSync(corpus, await bundle(sources))
  const args = ['--input-type=module', '-e', program, pathToFileURL(corpus).href, JSON.stringify(mutants)]
  const { stdout } = await execa('node', args)
  const [whole, ...outcomes] = stdout.split('\n').map((line) => JSON.parse(line) as Outcome)

  expect(whole!.wrong).toEqual([])
  expect(whole!.cases).toBeGreaterThan(150)
  expect(outcomes).toHaveLength(mutants.length)
  const unnoticed = mutants.filter((_, n) => outcomes[n]!.wrong.length === 0).map(({ check }) => check)
  expect(unnoticed.filter((check) => !redundant.some((known) => known.test(check)))).toEqual([])
})
