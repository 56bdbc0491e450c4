/** Errors of a command line that oclif cannot parse, with a suggestion of what may have been meant. */
import { stripVTControlCharacters } from 'node:util'
import type { Interfaces } from '@oclif/core'
import { UsageError } from './errors.ts'
import { nearest } from '../../src/foundation/nearest.ts'
import { nearestCommand } from './nearest-command.ts'
import { meant } from '../tree.ts'
import { printReport, type Report } from './report.ts'

/** The flags of a command, as oclif defines them. */
export type Definitions = { flags: Readonly<Record<string, Definition>> }
type Definition = {
  allowNo?: boolean
  char?: string
  options?: readonly string[]
  description?: string
}

/** Translates a parse error of oclif into a usage error. Returns any other error unchanged. */
export function toUsageError(error: unknown, argv: readonly string[], { flags }: Definitions): unknown {
  if (!(error instanceof Error)) return error
  // oclif marks its own errors, but not those of a flag's parser.
  if (!('oclif' in error || error.message.startsWith('Parsing --'))) return error
  const unknown = unknownFlag(argv, flags)
  if (unknown !== undefined)
    return new UsageError(`This command has no flag ${unknown}.${suggestion(unknown, namesOf(flags))}`)
  if (argv.includes('-o') && !Object.values(flags).some(({ char }) => char === 'o'))
    return new UsageError('This command has no flag -o. For JSON: --json')
  const text = stripVTControlCharacters(error.message).replace(/\n?See more help with --help$/, '')
  const [, name, value = '', options = ''] = /^Expected --([\w-]+)=(.*) to be one of: (.*)$/s.exec(text) ?? []
  if (name !== undefined)
    return new UsageError(`--${name} is ${JSON.stringify(value)}; it must be ${choice(options, value)}`)
  const [, argument = '', allowed] = /^Expected (.*) to be one of: (.*)$/s.exec(text) ?? []
  if (allowed !== undefined)
    return new UsageError(`${JSON.stringify(argument)} must be ${choice(allowed, argument)}`)
  const [, integer = '', fault] = /^Parsing --([\w-]+)\s+Expected (an? .*)$/s.exec(text) ?? []
  if (fault !== undefined)
    return new UsageError(`--${integer} must be ${fault.replace(' but received: ', ', and is ')}.`)
  const { args } = error as { args?: unknown }
  if (/^Missing \d+ required arg/.test(text) && Array.isArray(args))
    return new UsageError(missing(args as Argument[]))
  return new UsageError(inOneLine(text, (line) => inOurWords(line, argv, flags)))
}

/** Says what flags need and exclude, which oclif says in the passive voice and without values. */
function inOurWords(line: string, argv: readonly string[], flags: Definitions['flags']): string {
  const all = /^All of the following must be provided when using (\S+): (.*)$/.exec(line)
  if (all) return `${all[1]} needs ${listed(missingOf(all[2]!, argv), 'and', all[1]!, flags)}.`
  const some = /^One of the following must be provided when using (\S+): (.*)$/.exec(line)
  if (some) return `${some[1]} needs ${listed(some[2]!.split(', '), 'or', some[1]!, flags)}.`
  const one = /^(?:Exactly|At least) one of the following must be provided: (.*)$/.exec(line)
  if (one) return `Give ${listed(one[1]!.split(', '), 'or', '', flags)}.`
  const both = /^(--[\w-]+)(?:=.*)? cannot also be provided when using (\S+)$/s.exec(line)
  if (both) return `Give ${both.slice(1).toSorted().join(' or ')}, not both.`
  const [, name] = /^Missing required flag (\S+)$/.exec(line) ?? []
  const [, empty] = /^Flag --(\S+) expects a value$/.exec(line) ?? []
  const { description } = flags[name ?? empty ?? ''] ?? {}
  const about = description === undefined ? '' : ` (${description})`
  if (name !== undefined) return `A flag is missing: --${name}${about}.`
  return empty === undefined ? line : `--${empty} needs a value${about}.`
}

function missingOf(names: string, argv: readonly string[]): string[] {
  const given = argv.map((arg) => arg.replace(/=.*$/s, ''))
  return names.split(', ').filter((name) => !given.includes(name))
}

/** Names flags, with the value that `needing` is for: its description says `anoncreds only`. */
function listed(
  names: readonly string[],
  word: 'and' | 'or',
  needing: string,
  flags: Definitions['flags'],
): string {
  const [, only = ''] = /\b(\w+) only\b/.exec(flags[needing.slice(2)]?.description ?? '') ?? []
  const withValues = names.map((name) => {
    const { options } = flags[name.slice(2)] ?? {}
    return options?.includes(only) ? `${name} ${only}` : name
  })
  return withValues.join(', ').replace(/, ([^,]*)$/, ` ${word} $1`)
}

/** Finds the first flag on the command line that the command does not have. */
function unknownFlag(argv: readonly string[], flags: Definitions['flags']): string | undefined {
  const known = new Set(namesOf(flags))
  const end = argv.indexOf('--')
  const typed = argv.slice(0, end === -1 ? undefined : end)
  return typed
    .map((each) => each.replace(/=.*$/s, ''))
    .find((each) => /^--\w/.test(each) && !known.has(each) && each !== '--help')
}

function namesOf(flags: Definitions['flags']): string[] {
  return Object.entries(flags).flatMap(([name, { allowNo }]) => [
    `--${name}`,
    ...(allowNo ? [`--no-${name}`] : []),
  ])
}

function suggestion(given: string, known: readonly string[]): string {
  const near = nearest(given, known)
  return near === undefined ? '' : ` Did you mean ${near}?`
}

function choice(options: string, given: string): string {
  const known = options.split(', ')
  return `${known.join(', ').replace(/, ([^,]*)$/, ' or $1')}.${suggestion(given, known)}`
}

type Argument = { name: string; description?: string }

function missing(args: readonly Argument[]): string {
  const named = args
    .map(({ name, description }) => (description === undefined ? name : `${name} (${description})`))
    .join(' and ')
  return args.length === 1 ? `An argument is missing: ${named}.` : `Arguments are missing: ${named}.`
}

/** Joins the heading and the list of an error text of oclif. */
function inOneLine(text: string, translate: (line: string) => string): string {
  const [head = '', ...rest] = text
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '')
  if (rest.length === 0) return translate(head)
  const sentences = rest.map(translate).map((line) => (line.endsWith('.') ? line : `${line}.`))
  const list = [...new Set(sentences)].join(' ')
  return /^The following errors? occurred:$/.test(head) ? list : `${head} ${list}`
}

/**
 * Reports an unknown command on standard error, with a suggestion; as JSON with `--json`. `given` are the
 * words before the first flag.
 */
export function reportNotFound(
  config: Pick<Interfaces.Config, 'commands' | 'findTopic' | 'topics'>,
  given: readonly string[],
  argv: readonly string[],
): void {
  const words = given.filter((word) => word !== '')
  const known = config.commands
    .filter(({ hidden }) => !hidden)
    .map((command) => command.id.replaceAll(':', ' '))
  const topic = config.findTopic(words[0] ?? '')
  const topics = config.topics.map(({ name }) => name).filter((name) => !name.includes(':'))
  const near =
    meant[words.slice(0, 2).join(' ')] ??
    (topic ? undefined : meant[words[0]!]) ??
    nearestCommand(words, known) ??
    (words.length === 1 ? nearest(words[0]!, topics) : undefined)
  const isTooLong = near !== undefined && words.join(' ').startsWith(`${near} `)
  const report: Report = {
    code: 'Usage',
    title: isTooLong
      ? `agent ${near} takes no argument such as ${words.slice(near.split(' ').length).join(' ')}.`
      : `There is no command agent ${words.join(' ')}.${near === undefined ? '' : ` Did you mean agent ${near}?`}`,
    hint: near === undefined ? `agent help${topic ? ` ${topic.name}` : ''}` : `agent ${near} --help`,
    exitCode: 2,
  }
  printReport(report, argv.includes('--json'))
}
