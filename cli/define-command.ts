/**
 * `defineCommand` makes an oclif command of a description and a function `run`.
 *
 * Standard output carries data, standard error carries messages. With `--json` the data is the value that `run` returns, and an error is
 * one JSON object on standard error.
 */
import type { Interfaces } from '@oclif/core'
import { Command } from '@oclif/core/command'
import * as Flags from '@oclif/core/flags'
import { asTyped, spellOut } from './argv.ts'
import type { Daemon } from './client/api.ts'
import { resolveIds } from './client/find-id.ts'
import { toUsageError } from './errors/parsing.ts'
import { renderReport, toReport } from './errors/report.ts'
import { colour } from './format/colour.ts'
import { forSameDaemon, type Identity } from './format/next.ts'
import { safeJson } from './format/text.ts'
import { createOutput, type Output } from './output.ts'
import { canAsk } from './prompts/ask.ts'
import { askForMissing, type Questions, typed, withoutRules } from './prompts/missing.ts'

const globalFlags = {
  // cli/main.ts takes this flag from the command line; it is declared here for help and completion.
  'no-color': Flags.boolean({ description: 'print without colours (NO_COLOR)', helpGroup: 'GLOBAL' }),
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
  quiet: Flags.boolean({ char: 'q', description: 'print ids only', helpGroup: 'GLOBAL' }),
  ...globalFlags,
}

type CommonFlags = Identity & { quiet?: boolean }

/** The context of a command that needs no daemon. */
export type LocalContext<Args = object, Flags = object> = Output & {
  args: Args
  flags: Flags & CommonFlags
  /** The words of the command, such as `agent credential offer`. */
  name: string
  /** The arguments after those words. */
  argv: readonly string[]
  config: Interfaces.Config
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
}

type Definition<F, A, Given> = Description<F, A> & {
  /** Returns the value that `--json` prints. */
  run: (context: Given) => Promise<unknown>
}

type ContextOf<F, A> = Context<ArgValues<A>, FlagValues<F>>
type LocalContextOf<F, A> = LocalContext<ArgValues<A>, FlagValues<F>>
export type ArgValues<A> = keyof A extends never ? object : Interfaces.InferredArgs<A>
export type FlagValues<F> = keyof F extends never ? object : Interfaces.InferredFlags<F>

/** Defines a command that calls the daemon. */
export function defineCommand<F = object, A = object>(
  definition: Definition<F, A, ContextOf<F, A>>,
): Command.Class {
  return toClass(definition as AnyDefinition, true)
}

/** Defines a command that needs no daemon. It has none of the flags that choose one. */
export function defineLocalCommand<F = object, A = object>(
  definition: Definition<F, A, LocalContextOf<F, A>>,
): Command.Class {
  return toClass(definition as AnyDefinition, false)
}

type AnyDefinition = Definition<Interfaces.FlagInput, Interfaces.ArgInput, any>

function toClass(definition: AnyDefinition, callsDaemon: boolean): Command.Class {
  return class extends BaseCommand {
    static override summary = definition.summary
    static override description = definition.description
    static override examples = definition.examples
    static override usage = definition.usage
    static override enableJsonFlag = definition.hasJsonFlag ?? true
    static override args = definition.args ?? {}
    static override flags = definition.flags ?? {}
    static override baseFlags = callsDaemon ? daemonFlags : globalFlags

    override run(): Promise<unknown> {
      return this.execute(definition, callsDaemon)
    }
  }
}

abstract class BaseCommand extends Command {
  /** As oclif's, which would load its configuration a second time. */
  static override run(
    this: new (argv: string[], config: Interfaces.Config) => any,
    argv: string[],
    config: Interfaces.Config,
  ): Promise<any> {
    // oxlint-disable-next-line no-underscore-dangle
    return new this(argv, config)._run()
  }

  /** The flags that choose the daemon, once they are parsed. Errors need them too. */
  #common: CommonFlags = {}

  protected async execute(
    { questions, timeoutMs, run }: AnyDefinition,
    callsDaemon: boolean,
  ): Promise<unknown> {
    const daemon = callsDaemon ? await this.#connect(timeoutMs) : undefined
    try {
      const { wait } = this.ctor.flags as { wait?: { type: string } }
      const argv = wait?.type === 'option' ? spellOut(this.argv) : this.argv
      const { args, flags } = await this.parse(
        this.ctor,
        daemon && questions ? await this.#complete(argv, questions, daemon) : argv,
      )
      if (daemon) await resolveIds(this.id!, { args, flags }, daemon.call)
      const output = createOutput(this.jsonEnabled(), this.#common)
      return await run({
        args,
        flags,
        name: this.#name,
        argv: this.argv,
        config: this.config,
        ...output,
        ...daemon,
      })
    } finally {
      daemon?.close()
    }
  }

  /** Loads the client, which commands without a daemon do not need. */
  async #connect(timeoutMs: number | undefined): Promise<Daemon> {
    const { connectDaemon } = await import('./client/api.ts')
    const { findAccess, fromProcess } = await import('./client/settings.ts')
    return connectDaemon(() => findAccess(this.#common, fromProcess()), timeoutMs)
  }

  get #name(): string {
    return `agent ${this.id!.replaceAll(':', ' ')}`
  }

  /** Asks for required arguments and flags that are missing, if there is a person to ask. Other mistakes are left to the parser. */
  async #complete(argv: string[], questions: Questions, daemon: Daemon): Promise<string[]> {
    if (!canAsk({ json: this.jsonEnabled() })) return argv
    const parsed = await this.parse(withoutRules(this.ctor), argv).catch(() => undefined)
    if (!parsed || this.#common.quiet) return argv
    await resolveIds(this.id!, parsed, daemon.call)
    const given = { ...parsed.args, ...parsed.flags }
    const complete = await askForMissing(questions, argv, { call: daemon.call, given })
    if (complete.length > argv.length) {
      const line = `$ ${this.#name} ${typed(asTyped(complete))}`
      process.stderr.write(`${colour(process.stderr)('faint', line)}\n`)
    }
    return complete
  }

  /** As oclif's, with errors in our own words. @throws {UsageError} */
  protected override async parse<
    F extends Interfaces.OutputFlags<any>,
    B extends Interfaces.OutputFlags<any>,
    A extends Interfaces.OutputArgs<any>,
  >(options: Interfaces.Input<F, B, A>, argv: string[]): Promise<Interfaces.ParserOutput<F, B, A>> {
    try {
      const parsed = await super.parse(options, argv)
      this.#common = parsed.flags as CommonFlags
      return parsed
    } catch (error) {
      throw toUsageError(error, argv, { flags: { ...options.baseFlags, ...options.flags, json: {} } })
    }
  }

  protected override logJson(json: unknown): void {
    process.stdout.write(`${safeJson(json)}\n`)
  }

  // oclif would exit with 1 whenever `--json` is given.
  protected override async catch(error: Error & { oclif?: { exit?: number }; code?: string }): Promise<void> {
    if (error.code === 'EEXIT') throw error
    if (error.oclif !== undefined && !this.jsonEnabled()) throw error
    const report = toReport(error, this.id ?? '')
    if (report.hint !== undefined) report.hint = forSameDaemon(report.hint, this.#common)
    process.exitCode = report.exitCode
    process.stderr.write(`${this.jsonEnabled() ? JSON.stringify(report) : renderReport(report)}\n`)
    if (report.code === 'Bug') this.debug(error.stack)
  }
}
