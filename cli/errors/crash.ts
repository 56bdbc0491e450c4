/** The end of a command line whose error no command has reported: one sentence, never a stack. */
import { systemReason } from '../../src/base/system-reason.ts'
import { renderReport, toReport, type Report } from './report.ts'

/** Reports an error on standard error, as JSON with `--json`, and ends the process. With DEBUG set, the stack follows. */
export function reportCrash(error: unknown, argv: readonly string[]): never {
  const { oclif, code } = (error ?? {}) as { oclif?: { exit?: number }; code?: unknown }
  if (code === 'EEXIT') process.exit(oclif?.exit ?? 0)
  const report = outputReport(error) ?? toReport(error, '')
  process.stderr.write(`${argv.includes('--json') ? JSON.stringify(report) : renderReport(report)}\n`)
  if (process.env['DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  // A command that does not exist is a usage error like any other.
  process.exit(report.exitCode === 127 ? 2 : report.exitCode)
}

/** The report of a write to standard output that failed, such as on a full disk. */
function outputReport(error: unknown): Report | undefined {
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException
  if (syscall !== 'write' || code === undefined) return undefined
  return { code: 'Output', title: `The output cannot be written: ${systemReason(error)}.`, exitCode: 1 }
}
