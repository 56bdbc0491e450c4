/** What went wrong in the demonstration, in its daemons' own words. */
import { join } from 'node:path'
import { lastLines, formatLogLine } from '../daemon/log.ts'
import { logPath } from '../daemon/launch.ts'
import { toReport } from '../errors/report.ts'
import { CommandError } from '../errors/errors.ts'
import { shorten } from '../format/width.ts'
import type { Name } from './party.ts'

/** What went wrong, with what the daemons say about it. */
export function failure(error: unknown, started: Iterable<Name>, folder: string): CommandError {
  const { title, detail, exitCode } = toReport(error, 'demo')
  if (exitCode === 130) return error as CommandError
  const logs = [...started].flatMap((name) => complaints(name, folder))
  return new CommandError([title, detail, ...logs].filter(Boolean).join('\n'), 1)
}

/** The warnings and errors at the end of a daemon's log. */
function complaints(name: Name, folder: string): string[] {
  const { lines } = lastLines(logPath(join(folder, name)), 200)
  const grave = lines.filter((line) => /"level":[456]0/.test(line) || !line.startsWith('{'))
  return grave.slice(-5).map((line) => shorten(`${name}: ${formatLogLine(line)}`, 500))
}
