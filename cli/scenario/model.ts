/** A scenario: commands that run one after the other, and refer to earlier results. Read from YAML or JSON. */
import { isAlias, LineCounter, parseDocument, visit, type Document } from 'yaml'
import * as z from 'zod'
import '../../src/foundation/plain-issues.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { UsageError } from '../errors/errors.ts'
import { readInput } from '../input/files.ts'
import { referencesIn } from './references.ts'

/** The size of the largest file, in characters. */
const maxLength = 1_000_000

const Name = z
  .string()
  .regex(/^[a-z][a-z0-9_-]*$/i, 'is not made of letters, digits, _ and -, beginning with a letter')

const Step = z.strictObject({
  id: Name.optional(),
  run: z.union(
    [z.string().min(1), z.array(z.string()).min(1)],
    'is neither a command line nor a list of words',
  ),
  profile: z.string().optional(),
  /** The exit code that the step must have. */
  exit: z.int().min(0).max(255).default(0),
  /** Members that the result must have. */
  expect: z.record(z.string(), z.json()).optional(),
})

const Scenario = z.strictObject({
  name: z.string().optional(),
  vars: z.record(Name, z.union([z.string(), z.number(), z.boolean()]).transform(String)).default({}),
  steps: z.array(Step).min(1, 'has no steps'),
})

export type Step = Omit<z.infer<typeof Step>, 'run'> & { words: string[] }
export type Scenario = Omit<z.infer<typeof Scenario>, 'steps'> & { steps: Step[] }

/** Reads a scenario, and checks the references in it. @throws {UsageError} with the place of each mistake */
export function readScenario(path: string): Scenario {
  const document = parseYaml(path, readFile(path))
  const result = Scenario.safeParse(document.toJS({ maxAliasCount: 0 }))
  if (!result.success) {
    const reasons = result.error.issues.map(
      (issue) => `${issue.path.join('.') || 'the whole'}: ${issue.message}`,
    )
    throw new UsageError(`${path} is not a scenario. ${reasons.join('. ')}.`)
  }
  const { steps, ...rest } = result.data
  const scenario = { ...rest, steps: steps.map((step, index) => withWords(path, step, index)) }
  checkReferences(path, scenario)
  return scenario
}

function readFile(path: string): string {
  try {
    const text = readInput(path)
    if (text.length > maxLength) throw new UsageError(`${path} is larger than 1 MB.`)
    return text
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`The scenario ${path} cannot be read: ${systemReason(error)}.`)
  }
}

function parseYaml(path: string, text: string): Document {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  const [error] = document.errors
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0])
    throw new UsageError(`${path}, line ${line}, column ${col}: ${error.message.replace(/\.$/, '')}.`)
  }
  // Aliases can make a small file very large.
  visit(document, (_, node) => {
    if (isAlias(node)) throw new UsageError(`${path}: aliases (*${node.source}) are not supported.`)
  })
  return document
}

function withWords(path: string, { run, ...step }: z.infer<typeof Step>, index: number): Step {
  const words = typeof run === 'string' ? splitWords(run) : run
  if (!words) throw new UsageError(`${path}, steps.${index}.run: a quote is not closed.`)
  return { ...step, words: words[0] === 'agent' ? words.slice(1) : words }
}

/**
 * Splits a command line as a shell does, with quotes and backslashes, but without expansions. Undefined if a
 * quote is not closed.
 */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = []
  let rest = line.trimStart()
  while (rest !== '') {
    const [word] = /^(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/s.exec(rest) ?? []
    if (word === undefined) return undefined
    rest = rest.slice(word.length)
    if (rest !== '' && !/^\s/.test(rest)) return undefined
    rest = rest.trimStart()
    words.push(word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, unquote))
  }
  return words
}

function unquote(_: string, single?: string, double?: string, escaped?: string): string {
  return single ?? double?.replaceAll(/\\(["\\$])/g, '$1') ?? escaped!
}

/** Every reference is to a variable or to an earlier step. */
function checkReferences(path: string, { vars, steps }: Scenario): void {
  const known = new Set<string>()
  for (const [index, { id, words, profile = '', expect = {} }] of steps.entries()) {
    const place = `${path}, step ${index + 1}`
    for (const [first, second] of referencesIn([...words, profile, expect])) {
      if (first === 'vars' && !Object.hasOwn(vars, second ?? ''))
        throw new UsageError(`${place}: \${vars.${second}} is not in vars.`)
      if (first !== 'vars' && !known.has(first!))
        throw new UsageError(`${place}: \${${first}} is not an earlier step with this id.`)
    }
    if (id === undefined) continue
    if (known.has(id) || id === 'vars') throw new UsageError(`${place}: the id ${id} is taken.`)
    known.add(id)
  }
}
