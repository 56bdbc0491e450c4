/** What every command has: `--json`, and errors that say what happened, why, and which command mends it. */
import type { Interfaces } from '@oclif/core'
import { Command } from '@oclif/core/command'
import * as Flags from '@oclif/core/flags'
import { toUsageError } from './errors/parsing.ts'
import { renderReport, toReport } from './errors/report.ts'
import { colour, type Paint } from './format/colour.ts'
import { forSameDaemon, type Identity } from './format/next.ts'
import { safeJson } from './format/safe.ts'

/** Flags that matter beyond the command that parses them. */
export type CommonFlags = Identity & { quiet?: boolean }

/**
 * Standard output carries data, standard error carries talk. With `--json` the data is what `run` returns, and an error
 * is one JSON object on standard error.
 */
export abstract class PlainCommand extends Command {
  static override enableJsonFlag = true

  // The start of the program takes it from the command line (_main.ts); here it is for help and completion.
  static override baseFlags = {
    'no-color': Flags.boolean({ description: 'print without colours (NO_COLOR)', helpGroup: 'GLOBAL' }),
  }

  /** As oclif's, which would load its configuration a second time. */
  static override run(
    this: new (argv: string[], config: Interfaces.Config) => any,
    argv: string[],
    config: Interfaces.Config,
  ): Promise<any> {
    // oxlint-disable-next-line no-underscore-dangle
    return new this(argv, config)._run()
  }

  /** The flags, once they are parsed. */
  protected common: CommonFlags = {}

  /** As oclif's; remembers the flags, and says what is wrong as every error is said. @throws {UsageError} */
  protected override async parse<
    F extends Interfaces.OutputFlags<any>,
    B extends Interfaces.OutputFlags<any>,
    A extends Interfaces.OutputArgs<any>,
  >(options?: Interfaces.Input<F, B, A>, argv?: string[]): Promise<Interfaces.ParserOutput<F, B, A>> {
    try {
      const parsed = await super.parse(options, argv)
      this.common = parsed.flags as CommonFlags
      return parsed
    } catch (error) {
      throw toUsageError(error, argv ?? this.argv, {
        flags: { ...options?.baseFlags, ...options?.flags, json: {} },
      })
    }
  }

  /** Says something to the person at the terminal; not with `--json`. */
  protected say(text: string): void {
    if (!this.jsonEnabled()) process.stderr.write(`${text}\n`)
  }

  /** Suggests what to run next, one command a line. */
  protected suggest(...commands: (string | undefined)[]): void {
    const given = commands.filter((each) => each !== undefined)
    if (given.length > 0 && !this.common.quiet)
      this.say(['', 'Next:', ...given.map((each) => `  ${this.forSameDaemon(each)}`)].join('\n'))
  }

  protected override logJson(json: unknown): void {
    process.stdout.write(`${safeJson(json)}\n`)
  }

  // oclif would exit with 1 whenever `--json` is given.
  protected override async catch(error: Error & { oclif?: { exit?: number }; code?: string }): Promise<void> {
    if (error.code === 'EEXIT') throw error
    const isOclifs = error.oclif !== undefined
    if (isOclifs && !this.jsonEnabled()) throw error
    const report = toReport(error, this.id ?? '')
    if (report.hint !== undefined) report.hint = this.forSameDaemon(report.hint)
    process.exitCode = report.exitCode
    process.stderr.write(`${this.jsonEnabled() ? JSON.stringify(report) : renderReport(report)}\n`)
    if (report.code === 'Bug') this.debug(error.stack)
  }

  /** Columns of the terminal; without a terminal there is no limit. */
  protected get width(): number | undefined {
    return process.stdout.isTTY ? process.stdout.columns : undefined
  }

  /** Colours of standard output. */
  protected get paint(): Paint {
    return colour(process.stdout)
  }

  /** A suggested command, for the daemon and with the key of this one. */
  protected forSameDaemon(command: string): string {
    return forSameDaemon(command, this.common)
  }
}
