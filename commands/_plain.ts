/** What every command has: `--json`, and errors that say what happened, why, and which command mends it. */
import { Command } from '@oclif/core/command'
import { renderReport, toReport } from './_errors/report.ts'
import { safeJson } from './_format/safe.ts'

/**
 * Standard output carries data, standard error carries talk. With `--json` the data is what `run` returns, and an error
 * is one JSON object on standard error.
 */
export abstract class PlainCommand extends Command {
  static override enableJsonFlag = true

  /** Where the daemon was looked for, once it was. */
  protected url: string | undefined

  /** Says something to the person at the terminal; not with `--json`. */
  protected say(text: string): void {
    if (!this.jsonEnabled()) process.stderr.write(`${text}\n`)
  }

  /** Suggests what to run next, one command a line. */
  protected suggest(...commands: (string | undefined)[]): void {
    const given = commands.filter((each) => each !== undefined)
    if (given.length > 0) this.say(['', 'Next:', ...given.map((each) => `  ${each}`)].join('\n'))
  }

  protected override logJson(json: unknown): void {
    process.stdout.write(`${safeJson(json)}\n`)
  }

  // oclif would exit with 1 whenever `--json` is given.
  protected override async catch(error: Error & { oclif?: { exit?: number }; code?: string }): Promise<void> {
    if (error.code === 'EEXIT') throw error
    const isOclifs = error.oclif !== undefined
    if (isOclifs && !this.jsonEnabled()) throw error
    const report = toReport(error, this.id ?? '', this.url)
    process.exitCode = report.exitCode
    process.stderr.write(`${this.jsonEnabled() ? JSON.stringify(report) : renderReport(report)}\n`)
    if (report.code === 'Bug') this.debug(error.stack)
  }

  /** Columns of the terminal; without a terminal there is no limit. */
  protected get width(): number | undefined {
    return process.stdout.isTTY ? process.stdout.columns : undefined
  }
}
