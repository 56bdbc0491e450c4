/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util'
import { choose, type Scenario } from './_scenarios.ts'

export const usage = `npm run bench [-- [NAME…] [--quick] [--json [FILE.json]] [--guard] [--record]]
npm run bench -- --list
npm run bench -- --compare BEFORE.json AFTER.json
npm run bench -- --profile FOLDER`

export type Options =
  | { problem: string }
  | { does: 'list' }
  | { does: 'compare'; before: string; after: string }
  | { does: 'profile'; folder: string }
  | ({ does: 'measure' } & Measuring)

export type Measuring = {
  scenarios: Scenario[]
  quick: boolean
  json: boolean
  file?: string
  guard: boolean
  isRecord: boolean
}

const flag = { type: 'boolean', default: false } as const

/** Parses arguments. `--json` takes a path that ends in `.json`, or none. */
export function readOptions(args: readonly string[]): Options {
  let parsed
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        list: flag,
        compare: flag,
        quick: flag,
        json: flag,
        guard: flag,
        record: flag,
        profile: { type: 'string' },
      },
    })
  } catch (error) {
    return { problem: (error as Error).message }
  }
  const { values, positionals } = parsed
  const [files, words] = [positionals.filter(isFile), positionals.filter((word) => !isFile(word))]
  if (values.list) return { does: 'list' }
  if (values.profile !== undefined) return { does: 'profile', folder: values.profile }
  if (values.compare) {
    const [before, after, ...others] = files
    if (!before || !after || others.length > 0 || words.length > 0)
      return { problem: '--compare takes two files of results' }
    return { does: 'compare', before, after }
  }
  if (files.length > 1 || (files.length > 0 && !values.json))
    return { problem: `${files.join(', ')}: --json writes one file` }
  const { scenarios, unknown } = choose(words, values.quick)
  if (unknown.length > 0)
    return { problem: `no scenario is called ${unknown.join(', ')}: --list names them all` }
  return {
    does: 'measure',
    scenarios,
    quick: values.quick,
    json: values.json,
    guard: values.guard,
    isRecord: values.record,
    ...(files[0] && { file: files[0] }),
  }
}

function isFile(word: string): boolean {
  return word.endsWith('.json')
}
