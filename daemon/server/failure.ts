/** How a process of the daemon ends when it fails. */
import type { Log } from '../../src/foundation/log.ts'
import type { StartError } from '../../src/foundation/start-error.ts'

/** The message and the exit code of a start that failed. */
export function toFailure(error: unknown): { message: string; exitCode: number } {
  // Bundles that are loaded on demand have a class of their own.
  if ((error as Error).name === 'StartError') {
    const { message, exitCode } = error as StartError
    return { message, exitCode }
  }
  return {
    message: `The daemon could not start: ${(error as Error).stack ?? String(error)}`,
    exitCode: 1,
  }
}

/** Logs an error that nothing has caught, and ends the process. */
export function endOnUncaught(log: Log): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected error, please report it: the agent ends')
    // Node writes its diagnostic report (--report-uncaught-exception) only for errors without a handler.
    if (process.report.reportOnUncaughtException) process.report.writeReport(error)
    process.exit(1)
  })
}
