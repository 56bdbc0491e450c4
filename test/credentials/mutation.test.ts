/** Every check counts: with any single one switched off, some forgery passes, or is refused for another reason than its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, expect, test } from 'vitest'
import { bundle, files, mutantsOf } from './_mutants.ts'

/** Checks without which the next one refuses the same, for the same reason, if in other words. */
const redundant = [/is not acceptable JSON/, /The \$\{part\} is not a JSON object/]

// Inside the project, where its packages are found.
mkdirSync('dist', { recursive: true })
const folder = mkdtempSync(resolve('dist/mutants-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs the corpus of each module in turn, as far as the first surprise; a module that does not load has noticed too. */
const program = `
  for (const file of process.argv.slice(1)) {
    const run = import(file).then(({ runCorpus }) => runCorpus({ stopAtFirst: true }))
    console.log(JSON.stringify(await run.catch((error) => ({ cases: 0, wrong: [String(error)] }))))
  }`

type Outcome = { cases: number; wrong: string[] }

async function run(modules: string[]): Promise<Outcome[]> {
  const { stdout } = await execa('node', ['--input-type=module', '-e', program, ...modules])
  return stdout.split('\n').map((line) => JSON.parse(line) as Outcome)
}

async function write(name: string, text: string): Promise<string> {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, text)
  return file
}

test('no check can be switched off unnoticed', { timeout: 300_000 }, async () => {
  const [whole] = await run([await write('whole', await bundle())])
  expect(whole!.wrong).toEqual([])
  expect(whole!.cases).toBeGreaterThan(150)

  const mutants = files.flatMap(mutantsOf)
  expect(mutants.length).toBeGreaterThan(70)
  const modules: string[] = []
  for (const [n, mutant] of mutants.entries()) modules.push(await write(String(n), await bundle(mutant)))
  const outcomes = await run(modules)
  expect(outcomes).toHaveLength(mutants.length)
  const unnoticed = mutants.filter((_, n) => outcomes[n]!.wrong.length === 0).map(({ check }) => check)
  expect(unnoticed.filter((check) => !redundant.some((known) => known.test(check)))).toEqual([])
})
