/** `agent daemon logs` */
import * as Flags from '@oclif/core/flags'
import { findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { logPath } from '../../cli/daemon/launch.ts'
import { followLines, formatLogLine, lastLines } from '../../cli/daemon/log.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { localDaemonFlags } from '../../cli/input/arguments.ts'
import { systemReason } from '../../src/base/system-reason.ts'

export default defineLocalCommand({
  summary: 'Print the daemon’s log',
  description: 'With --json, prints the lines unchanged, one JSON object each.',
  examples: ['agent daemon logs --follow', 'agent daemon logs --lines 100'],
  flags: {
    follow: Flags.boolean({ char: 'f', description: 'keep printing new lines, until Ctrl-C' }),
    lines: Flags.integer({
      char: 'n',
      description: 'number of existing lines to print',
      min: 0,
      default: 100,
    }),
    ...localDaemonFlags,
  },
  async run({ flags, isJson }) {
    const path = logPath(findDataDir(flags, fromProcess()))
    const print = (line: string) => process.stdout.write(`${isJson ? line : formatLogLine(line)}\n`)
    const { lines, size } = readLast(path, flags.lines)
    lines.forEach(print)
    if (flags.follow) await followLines(path, size, print, new AbortController().signal)
  },
})

function readLast(path: string, count: number) {
  try {
    return lastLines(path, count)
  } catch (error) {
    throw new CommandError(
      `There is no log at ${path}: ${systemReason(error)}. A daemon in the foreground logs to its terminal.`,
      3,
      'agent daemon start',
    )
  }
}
