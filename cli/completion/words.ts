/** Finds what may come next on a command line, from oclif's manifest. */

import { hasOptionalValue, leadingFlags } from '../argv.ts'
import { kindOf } from '../input/kinds.ts'
import { withoutAlias } from '../tree.ts'

/** The part of the manifest that completion reads. */
export type Manifest = {
  commands: Readonly<Record<string, Command>>
  topics: Readonly<Record<string, { description?: string }>>
}
export type Command = {
  id: string
  summary?: string
  hidden?: boolean
  args: Readonly<Record<string, { name: string; options?: string[]; multiple?: boolean }>>
  flags: Readonly<Record<string, Flag>>
}
export type Flag = {
  name: string
  char?: string
  type: 'boolean' | 'option'
  description?: string
  required?: boolean
  multiple?: boolean
  hidden?: boolean
  allowNo?: boolean
  options?: string[]
  helpGroup?: string
  helpValue?: string
}

/** A word that may come next, and its description. */
export type Candidate = { value: string; about?: string | undefined }

/**
 * The flag or argument whose value comes next. `before` is the part of the word before the value, such as
 * `--wait=`.
 */
export type Place = {
  command: Command
  kind: 'flag' | 'arg'
  name: string
  options?: string[] | undefined
  before: string
  given: Given
}

/** The values of earlier flags. */
export type Given = Readonly<Record<string, string>>

/** Candidates, or the position of a value. */
export type Next = { words: Candidate[] } | { place: Place }

/** Returns what may replace the last word. The words do not include the name of the program. */
export function whatIsNext(manifest: Manifest, given: readonly string[]): Next {
  const leading = leadingFlags(given.slice(0, -1))
  if (leading > Math.max(0, given.length - 1)) return { words: [] }
  return whatFollows(manifest, given.slice(leading), given.slice(0, leading))
}

function whatFollows(manifest: Manifest, words: readonly string[], leading: readonly string[]): Next {
  const current = words.at(-1) ?? ''
  const asksForHelp = words[0] === 'help' && words.length > 1
  const before = withoutAlias(words.slice(asksForHelp ? 1 : 0, -1))
  const command = asksForHelp ? undefined : findCommand(manifest, before)
  if (!command)
    return {
      words: before.some((word) => word.startsWith('-')) ? [] : nextNames(manifest, before, asksForHelp),
    }
  const { given, count, pending, isOver } = walk(command, [
    ...leading,
    ...before.slice(command.id.split(':').length),
  ])
  if (pending && mayBeValue(current, pending)) return { place: toPlace(command, pending, '', given) }
  const inline = /^--([\w-]+)=/.exec(current)
  const flag = inline ? command.flags[inline[1]!] : undefined
  if (inline)
    return flag?.type === 'option' ? { place: toPlace(command, flag, inline[0], given) } : { words: [] }
  const flags = flagsLeft(command, given)
  if (current.startsWith('-') && !isOver) return { words: flags }
  const args = Object.values(command.args)
  const arg = args[count] ?? (args.at(-1)?.multiple ? args.at(-1) : undefined)
  if (!arg) return { words: current === '' && !isOver ? flags : [] }
  return { place: { command, kind: 'arg', name: arg.name, options: arg.options, before: '', given } }
}

function toPlace(command: Command, { name, options }: Flag, before: string, given: Given): Place {
  return { command, kind: 'flag', name, options, before, given }
}

/** Returns the command with the longest name that the words begin with. */
function findCommand({ commands }: Manifest, words: readonly string[]): Command | undefined {
  const ends = words.map((_, index) => words.slice(0, index + 1).join(':')).toReversed()
  return ends.map((id) => commands[id]).find((command) => command !== undefined)
}

/** Returns the topics and commands that may follow the words. */
function nextNames(
  { commands, topics }: Manifest,
  words: readonly string[],
  asksForHelp: boolean,
): Candidate[] {
  const prefix = words.map((word) => `${word}:`).join('')
  const found = new Map<string, string | undefined>()
  for (const { id, summary, hidden } of Object.values(commands)) {
    if (hidden || !id.startsWith(prefix) || (asksForHelp && id === 'help')) continue
    const [name, ...rest] = id.slice(prefix.length).split(':')
    if (rest.length === 0) found.set(name!, summary)
    else if (!found.has(name!)) found.set(name!, topics[`${prefix}${name}`]?.description)
  }
  return [...found].map(([value, about]) => ({ value, about }))
}

type Walk = { given: Given; count: number; pending: Flag | undefined; isOver: boolean }

/**
 * Reads the words after the name of a command: flags with their values, the number of arguments, the flag
 * whose value is missing, and whether `--` has ended the flags.
 */
function walk(command: Command, words: readonly string[]): Walk {
  const given: Record<string, string> = {}
  let count = 0
  let pending: Flag | undefined
  let isOver = false
  for (const word of words) {
    if (pending && mayBeValue(word, pending)) {
      given[pending.name] = word
      pending = undefined
      continue
    }
    pending = undefined
    if (isOver || !/^-./.test(word)) count += 1
    else if (word === '--') isOver = true
    else {
      const [name = '', ...value] = word.replace(/^--?(?:no-)?/, '').split('=')
      const flag =
        command.flags[name] ??
        Object.values(command.flags).find(({ char }) => char === name[0] && !word.startsWith('--'))
      if (!flag) continue
      given[flag.name] = value.join('=')
      const isAlone =
        hasOptionalValue(flag) && kindOf({ command, kind: 'flag', name: flag.name }) === undefined
      if (flag.type === 'option' && value.length === 0 && !isAlone) pending = flag
    }
  }
  return { given, count, pending, isOver }
}

/** A flag after one whose value may be left out is not that value. */
function mayBeValue(word: string, flag: Flag): boolean {
  return !hasOptionalValue(flag) || !word.startsWith('-')
}

/** Returns the flags that may follow: required ones first, those of every command last. */
function flagsLeft({ flags }: Command, given: Given): Candidate[] {
  const rank = ({ required, helpGroup }: Flag) => (required ? 0 : helpGroup === undefined ? 1 : 2)
  return Object.values(flags)
    .filter(({ name, multiple, hidden }) => !hidden && (multiple || given[name] === undefined))
    .toSorted((a, b) => rank(a) - rank(b))
    .flatMap(({ name, description, allowNo }) => [
      { value: `--${name}`, about: description },
      ...(allowNo ? [{ value: `--no-${name}`, about: description }] : []),
    ])
}
