/**
 * `defineCommand` makes a command of a description and a function `run`. oclif parses its arguments.
 *
 * Standard output carries data, standard error carries messages. With `--json` the data is the value that
 * `run` returns, and an error is one JSON object on standard error.
 */
import type { Interfaces } from '@oclif/core'
import * as Flags from '@oclif/core/flags'
import { parse } from '@oclif/core/parser'
import { asTyped, emptyMark, markEmpty, spellOut } from './argv.ts'
import type { Daemon } from './client/api.ts'
import type { Access } from './client/settings.ts'
import { toUsageError } from './errors/parsing.ts'
import { printReport, toReport } from './errors/report.ts'
import { colour } from './format/colour.ts'
import { forSameDaemon, type Identity } from './format/next.ts'
import { safeJson } from './format/text.ts'
import { createOutput, type Output } from './output.ts'
import { canAsk } from './prompts/ask.ts'
import { askForMissing, type Questions, type Rules, typed, withoutRules } from './prompts/missing.ts'

const jsonFlag = { json: Flags.boolean({ description: 'Format output as json.', helpGroup: 'GLOBAL' }) }

const globalFlags = {
  // cli/main.ts takes this flag from the command line; it is declared here for help and completion.
  'no-color': Flags.boolean({ description: 'print without colours (NO_COLOR)', helpGroup: 'GLOBAL' }),
  'no-trunc': Flags.boolean({
    description: 'print whole ids, DIDs and texts in a terminal too, as in a pipe',
    helpGroup: 'GLOBAL',
  }),
  quiet: Flags.boolean({ char: 'q', description: 'print ids only', helpGroup: 'GLOBAL' }),
}

const daemonFlags = {
  url: Flags.string({ description: 'base URL of the daemon’s HTTP API (AGENT_URL)', helpGroup: 'DAEMON' }),
  profile: Flags.string({
    char: 'p',
    description: 'profile of the daemon (AGENT_PROFILE); default: the selected profile',
    helpGroup: 'DAEMON',
  }),
  'api-key-file': Flags.string({
    description: 'file of the tenant’s key, - for standard input (AGENT_API_KEY: the key)',
    helpGroup: 'DAEMON',
  }),
  'admin-key-file': Flags.string({
    description: 'file of the administrator’s key (AGENT_ADMIN_KEY: the key)',
    helpGroup: 'DAEMON',
  }),
}

type CommonFlags = Identity & { quiet?: boolean; 'no-trunc'?: boolean }

/** The context of a command that needs no daemon. */
export type LocalContext<Args = object, Flags = object> = Output & {
  args: Args
  flags: Flags & CommonFlags
  /** The words of the command, such as `agent credential offer`. */
  name: string
  /** The arguments after those words. */
  argv: readonly string[]
}

/** The context of a command that calls the daemon. */
export type Context<Args = object, Flags = object> = LocalContext<Args, Flags> & Daemon

/** The description of a command: its help, its flags `F` and its arguments `A`. */
export type Description<F, A> = {
  /** One line, without a full stop. */
  summary: string
  description?: string
  examples: string[]
  /** Replaces the usage that oclif derives from flags and arguments. */
  usage?: string
  args?: A
  flags?: F
  /** Questions for required arguments and flags that are missing. They are asked at a terminal only. */
  questions?: Questions
  /** The time limit of a call, instead of the client's. */
  timeoutMs?: number
  hasJsonFlag?: boolean
  /** Help and completion leave it out: another command does the same. */
  hidden?: boolean
}

type Definition<F, A, Given> = Description<F, A> & {
  /** Returns the value that `--json` prints. */
  run: (context: Given) => Promise<unknown>
}

type ContextOf<F, A> = Context<ArgValues<A>, FlagValues<F>>
type LocalContextOf<F, A> = LocalContext<ArgValues<A>, FlagValues<F>>
export type ArgValues<A> = keyof A extends never ? object : Interfaces.InferredArgs<A>
export type FlagValues<F> = keyof F extends never ? object : Interfaces.InferredFlags<F>

/** A command. oclif makes the manifest of the properties, and help of the manifest. */
export type Command = {
  summary: string
  description: string | undefined
  examples: string[]
  usage: string | undefined
  hidden: boolean
  args: Interfaces.ArgInput
  flags: Interfaces.FlagInput
  /** The flags that many commands have. */
  baseFlags: Interfaces.FlagInput
  /** Rejects arguments that are not in `args`. */
  strict: true
  /** Runs a command line. `id` is the id of oclif, such as `credential:accept`. */
  run: (argv: string[], id: string) => Promise<unknown>
}

/** Defines a command that calls the daemon. */
export function defineCommand<F = object, A = object>(
  definition: Definition<F, A, ContextOf<F, A>>,
): Command {
  return toCommand(definition as AnyDefinition, { ...daemonFlags, ...globalFlags }, connect)
}

/** Defines a command that needs no daemon. It has none of the flags that choose one. */
export function defineLocalCommand<F = object, A = object>(
  definition: Definition<F, A, LocalContextOf<F, A>>,
): Command {
  return toCommand(definition as AnyDefinition, globalFlags)
}

type AnyDefinition = Definition<Interfaces.FlagInput, Interfaces.ArgInput, any>

function toCommand(definition: AnyDefinition, common: Interfaces.FlagInput, open?: typeof connect): Command {
  const { summary, description, examples, usage, hidden = false } = definition
  const { args = {}, flags = {}, hasJsonFlag = true } = definition
  const baseFlags = hasJsonFlag ? { ...jsonFlag, ...common } : common
  const rules = { args, flags: { ...baseFlags, ...flags } }
  return {
    summary,
    description,
    examples,
    usage,
    hidden,
    args,
    flags,
    baseFlags,
    strict: true,
    async run(argv, id) {
      const end = argv.indexOf('--')
      const isJson = hasJsonFlag && argv.slice(0, end === -1 ? undefined : end).includes('--json')
      const line = { id, name: `agent ${id.replaceAll(':', ' ')}`, argv, rules, isJson, common: {} }
      try {
        const result = await execute(definition, line, open)
        if (result && isJson) process.stdout.write(`${safeJson(result)}\n`)
        return result
      } catch (error) {
        reportError(error as Error, line)
      }
    },
  }
}

type Line = {
  id: string
  name: string
  argv: string[]
  rules: Rules
  isJson: boolean
  /** The flags that choose the daemon, once they are parsed. Errors need them too. */
  common: CommonFlags
  /** The record that the line names, once it is found. */
  record?: unknown
}

async function execute(
  { questions, timeoutMs, run }: AnyDefinition,
  line: Line,
  open: typeof connect | undefined,
): Promise<unknown> {
  const daemon = await open?.(line, timeoutMs)
  try {
    const given = spellOut(line.argv, line.rules.flags)
    const argv = daemon && questions ? await complete(line, given, questions, daemon) : given
    const { args, flags } = await parseLine(line, argv)
    await daemon?.resolveIds(line, { args, flags }, daemon.call)
    line.record = (args as { id?: unknown }).id
    const output = createOutput(line.isJson, line.common)
    const running = run({ args, flags, name: line.name, argv, ...output, ...daemon })
    return await running.catch(async (error: unknown) => {
      throw (await daemon?.withOther(error, line.id, { args, flags }, daemon.call)) ?? error
    })
  } finally {
    daemon?.close()
  }
}

/** Loads and creates the client, which commands without a daemon do not need. */
async function connect(line: Line, timeoutMs: number | undefined) {
  const { connectDaemon } = await import('./client/api.ts')
  const { findAccess, fromProcess } = await import('./client/settings.ts')
  const { resolveIds } = await import('./client/find-id.ts')
  const find = () => findAccess(line.common, fromProcess())
  const offerStart = async (access: Access) =>
    (await import('./daemon/offer-start.ts')).offerStart(access, { json: line.isJson, ...line.common })
  const { withOther } = await import('./client/other-kind.ts')
  return { resolveIds, withOther, ...connectDaemon(find, timeoutMs, offerStart) }
}

/**
 * Asks for required arguments and flags that are missing, if there is a person to ask. Other mistakes are
 * left to the parser.
 */
async function complete(
  line: Line,
  argv: string[],
  questions: Questions,
  { call, resolveIds }: Awaited<ReturnType<typeof connect>>,
): Promise<string[]> {
  if (!canAsk({ json: line.isJson })) return argv
  const parsed = await parseLine(line, argv, withoutRules(line.rules)).catch(() => undefined)
  if (!parsed || line.common.quiet) return argv
  await resolveIds(line, parsed, call)
  const given = { ...parsed.args, ...parsed.flags }
  const whole = await askForMissing(questions, argv, { call, given })
  if (whole.length > argv.length) {
    const text = `$ ${line.name} ${typed(asTyped(whole, line.rules.flags))}`
    process.stderr.write(`${colour(process.stderr)('faint', text)}\n`)
  }
  return whole
}

/** Parses arguments, and keeps the common flags. @throws {UsageError} */
async function parseLine(line: Line, argv: string[], rules = line.rules) {
  try {
    const parsed = await parse(markEmpty(argv, rules.flags), rules)
    for (const [name, value] of Object.entries(parsed.flags)) if (value === emptyMark) parsed.flags[name] = ''
    line.common = parsed.flags as CommonFlags
    return parsed
  } catch (error) {
    throw toUsageError(error, argv, rules)
  }
}

/** Prints an error and sets the exit code. @throws an error that ends the process. */
function reportError(
  error: Error & { code?: string; oclif?: object },
  { id, isJson, common, record }: Line,
): void {
  if (error.code === 'EEXIT' || (error.oclif !== undefined && !isJson)) throw error
  const report = toReport(error, id)
  const [topic] = id.split(':')
  if (typeof record === 'string' && report.hint === `agent ${topic} show <id>`)
    report.hint = `agent ${topic} show ${record}`
  if (report.hint !== undefined) report.hint = forSameDaemon(report.hint, common)
  process.exitCode = report.exitCode
  printReport(report, isJson, error)
}
