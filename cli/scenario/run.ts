/** Runs the steps of a scenario, each as a process of this program with `--json`. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { tryParseJson } from '../../src/foundation/json.ts'
import { CommandError, UsageError } from '../errors/errors.ts'
import type { Output } from '../output.ts'
import type { Scenario, Step } from './model.ts'
import { resolve, toText, type Values } from './references.ts'

const program = fileURLToPath(new URL('../bin/agent.cjs', import.meta.url))

/** The outcome of a step. `result` is its `--json` output, or its error report. */
export type StepResult = { id?: string; command: string; exitCode: number; ms: number; result?: unknown }

/**
 * Runs all steps, up to the first that fails.
 *
 * @throws {CommandError} with the exit code of a step that has another one than it must, or 1 for a result
 * that is not as expected
 */
export async function runScenario(
  { vars, steps }: Scenario,
  output: Output,
  given: Readonly<Record<string, string>>,
): Promise<StepResult[]> {
  const values: Record<string, unknown> = { vars: { ...vars, ...given } }
  const results: StepResult[] = []
  try {
    for (const [index, step] of steps.entries()) {
      const done = await runStep(step, values)
      results.push(done)
      if (step.id !== undefined) values[step.id] = done.result
      const fault = faultOf(step, done, values)
      show(output, index, done, fault === undefined)
      if (fault === undefined) continue
      throw new CommandError(
        `Step ${index + 1}${step.id === undefined ? '' : ` (${step.id})`} failed: ${fault}`,
        done.exitCode === step.exit ? 1 : done.exitCode || 1,
      )
    }
  } catch (error) {
    if (output.isJson) output.logJson({ steps: results })
    throw error
  }
  return results
}

async function runStep({ id, words, profile }: Step, values: Values): Promise<StepResult> {
  const args = words.map((word) => toArgument(word, values))
  const flags = profile === undefined ? [] : [`--profile=${toText(resolve(profile, values))}`]
  const start = performance.now()
  const { exitCode, out, err } = await runCommand([...args, ...flags])
  const result = tryParseJson(exitCode === 0 ? lastDocument(out) : err)
  return {
    ...(id !== undefined && { id }),
    command: ['agent', ...args, ...flags].map(quoteWord).join(' '),
    exitCode,
    ms: Math.round(performance.now() - start),
    ...(result !== undefined && { result }),
  }
}

/**
 * A word of a command with the values that it refers to. A result may contain what somebody else wrote, which
 * must not be a flag.
 *
 * @throws {UsageError} for a word that begins with a value that begins with `-`
 */
function toArgument(word: string, values: Values): string {
  const text = toText(resolve(word, values))
  if (word.startsWith('-') || !text.startsWith('-')) return text
  throw new UsageError(
    `${word} is ${JSON.stringify(text)}, which would be a flag. As the value of a flag, write --<flag>=${word}.`,
  )
}

async function runCommand(args: readonly string[]) {
  const child = spawn(process.execPath, [program, ...args, '--json'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 130))
  })
  const [exitCode, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { exitCode, out, err }
}

/** With `--wait`, some commands print a record twice: as it was created, and as it is at the end. */
function lastDocument(out: string): string {
  return out.slice(Math.max(0, out.lastIndexOf('\n{') + 1))
}

function faultOf(step: Step, { exitCode, result }: StepResult, values: Values): string | undefined {
  if (exitCode !== step.exit) {
    const { title, detail } = (result ?? {}) as { title?: string; detail?: string }
    const reason = detail ?? title ?? 'the command printed no JSON'
    return exitCode === 0
      ? `it must end with exit code ${step.exit}, and has succeeded.`
      : `${reason.replace(/\.$/, '')} (exit code ${exitCode}).`
  }
  const wanted = resolve(step.expect ?? {}, values)
  const path = findDifference(wanted, result)
  return (
    path && `${path.join('.')} is not ${toText(at(wanted, path))}, but ${toText(at(result, path) ?? null)}.`
  )
}

/** The path of the first member of `wanted` that `given` has with another value. */
function findDifference(wanted: unknown, given: unknown): string[] | undefined {
  if (typeof wanted !== 'object' || wanted === null) return wanted === given ? undefined : []
  for (const [name, value] of Object.entries(wanted)) {
    const path = findDifference(value, at(given, [name]))
    if (path) return [name, ...path]
  }
  return undefined
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Record<string, unknown>)[name]
        : undefined,
    value,
  )
}

function show(
  { log, paint, isQuiet }: Output,
  index: number,
  { command, ms }: StepResult,
  isDone: boolean,
): void {
  if (isQuiet) return
  const mark = isDone ? paint('good', '✓') : paint('bad', '✗')
  log(
    `${mark} ${String(index + 1).padStart(2)}  ${command}  ${paint('faint', `${(ms / 1_000).toFixed(1)} s`)}`,
  )
}

/** Shortens long values such as invitations, and quotes what a shell would split. */
function quoteWord(word: string): string {
  const short = word.length > 60 ? `${word.slice(0, 57)}…` : word
  return /^[\w@%+=:,./…-]+$/.test(short) ? short : `'${short.replaceAll("'", String.raw`'\''`)}'`
}
