/** Prompts at a terminal. They use standard input and standard error and require a terminal at both. */
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { CommandError, UsageError } from '../errors/errors.ts'
import { colour } from '../format/colour.ts'
import { safeLine, shorten } from '../format/text.ts'

export type Terminal = {
  input: Readable & { isTTY?: boolean }
  output: Writable & { isTTY?: boolean; columns?: number }
}

export const here = (): Terminal => ({ input: process.stdin, output: process.stderr })

export function isTerminal({ input, output } = here()): boolean {
  return Boolean(input.isTTY && output.isTTY)
}

/** The error of Ctrl-C at a prompt. */
export function interrupted(): CommandError {
  return new CommandError('Interrupted. Nothing was changed.', 130)
}

type Quiet = { json?: boolean | undefined; quiet?: boolean | undefined }

/** An option. `name` is its label, `hint` the description of the selected one. */
export type Choice<T> = { value: T; name: string; hint?: string | undefined }

/** The number of visible options. */
const pageSize = 10
/** Above this number of options the prompt is a search. */
const many = 15

/** Returns true if prompts work. A dumb terminal cannot redraw them. */
export function canAsk(
  { json = false, quiet = false }: Quiet,
  terminal = here(),
  term = process.env.TERM,
): boolean {
  return !json && !quiet && isTerminal(terminal) && term !== 'dumb'
}

/**
 * Asks for a text. `check` returns what is wrong with it. An empty text is asked for again, unless it is
 * `optional`.
 *
 * @throws {CommandError} 130 on Ctrl-C.
 */
export async function askText(
  message: string,
  { check, optional = false }: { check?: (text: string) => string | undefined; optional?: boolean } = {},
  terminal = here(),
): Promise<string> {
  const validate = (given: string) => {
    const text = given.trim()
    if (text === '') return optional || 'Enter a value, or press Ctrl-C to cancel.'
    return check?.(text) ?? true
  }
  const { default: input } = await import('@inquirer/input')
  const answer = await unlessInterrupted(input({ message, validate, theme: themeOf(terminal) }, terminal))
  return answer.trim()
}

/**
 * Asks for a secret without echo. `check` returns what is wrong with it.
 *
 * @throws {CommandError} 130 on Ctrl-C.
 */
export async function askSecret(
  message: string,
  check: (text: string) => string | undefined,
  terminal = here(),
): Promise<string> {
  const validate = (given: string) =>
    given === '' ? 'Enter a value, or press Ctrl-C to cancel.' : (check(given) ?? true)
  const { default: password } = await import('@inquirer/password')
  return unlessInterrupted(password({ message, validate, theme: themeOf(terminal) }, terminal))
}

/**
 * Asks for one of several options, by arrow keys, or by typing a part of the name if there are many. Labels
 * may come from other parties, so they are sanitised and cut to one line.
 *
 * @throws {CommandError} 130 on Ctrl-C.
 */
export async function askChoice<T>(
  message: string,
  choices: readonly Choice<T>[],
  terminal = here(),
): Promise<T> {
  const width = (terminal.output.columns ?? 80) - 4
  const shown = choices.map(({ value, name, hint }) => ({
    value,
    name: shorten(safeLine(name), width),
    ...(hint !== undefined && { description: shorten(safeLine(hint), width) }),
  }))
  const [{ default: search }, { default: select }] = await Promise.all([
    import('@inquirer/search'),
    import('@inquirer/select'),
  ])
  const common = { message, pageSize, theme: themeOf(terminal) }
  if (choices.length <= many)
    return unlessInterrupted(select<T>({ ...common, choices: shown, loop: false }, terminal))
  const source = (term = '') => shown.filter(({ name }) => name.toLowerCase().includes(term.toLowerCase()))
  return unlessInterrupted(search<T>({ ...common, source }, terminal))
}

async function unlessInterrupted<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if ((error as Error).name === 'ExitPromptError') throw interrupted()
    throw error
  }
}

/** The colours of the library ignore CLICOLOR and test standard output. */
function themeOf({ output }: Terminal) {
  const paint = colour(output)
  return {
    prefix: { idle: paint('chosen', '?'), done: paint('good', '✔') },
    icon: { cursor: paint('chosen', '❯') },
    style: {
      message: (text: string) => paint('strong', text),
      answer: (text: string) => paint('chosen', text),
      highlight: (text: string) => paint('chosen', text),
      searchTerm: (text: string) => paint('chosen', text),
      help: (text: string) => paint('faint', text),
      description: (text: string) => paint('faint', text),
      error: (text: string) => paint('bad', `> ${text}`),
      key: (text: string) => paint('chosen', `<${text}>`),
      defaultAnswer: (text: string) => paint('faint', `(${text})`),
      disabled: (text: string) => paint('faint', text),
      keysHelpTip: (keys: [key: string, action: string][]) =>
        paint('faint', keys.map(([key, action]) => `${key} ${action}`).join(' • ')),
    },
  }
}

/**
 * Asks for confirmation. Without a terminal `--yes` is required.
 *
 * @throws {UsageError} without a terminal.
 * @throws {CommandError} when the answer is not yes (1), or Ctrl-C (130).
 */
export async function confirm(question: string, terminal = here()): Promise<void> {
  if (!isTerminal(terminal))
    throw new UsageError(
      'This cannot be undone, and there is no terminal to ask for confirmation: add --yes.',
    )
  if (!/^y(es)?$/i.test(await askLine(`${question} [y/N] `, terminal)))
    throw new CommandError('Cancelled.', 1)
}

/**
 * Asks a question whose usual answer is yes. The end of the input is a no.
 *
 * @throws {CommandError} 130 on Ctrl-C.
 */
export async function askYes(question: string, terminal = here()): Promise<boolean> {
  return /^(?:y(es)?)?$/i.test(await askLine(`${question} [Y/n] `, terminal, 'no'))
}

/** Returns a line, or `atEnd` at the end of the input. */
async function askLine(prompt: string, terminal: Terminal, atEnd = ''): Promise<string> {
  const lines = createInterface(terminal)
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      lines.once('SIGINT', () => reject(interrupted()))
      lines.once('close', () => resolve(atEnd))
      lines.question(prompt, resolve)
    })
    return answer.trim()
  } finally {
    lines.close()
  }
}
