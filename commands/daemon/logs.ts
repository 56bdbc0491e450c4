import * as Flags from '@oclif/core/flags'
import { findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { followLines, lastLines } from '../../cli/daemon/log.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { formatLogLine, levelNames, lineFilter } from '../../cli/format/log.ts'
import { localDaemonFlags } from '../../cli/input/arguments.ts'
import { commandsFor } from '../../cli/service/commands.ts'
import { readSince } from '../../cli/input/time.ts'
import { readRunning } from '../../src/foundation/running.ts'
import { logPath } from '../../src/foundation/log-file.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'

export default defineLocalCommand({
  summary: 'Print the daemon’s log',
  description:
    'Reads daemon.log in the data folder, and the older files of the log. With --json, prints the lines unchanged, one JSON object each. Lines that are not JSON, such as the output of a crash, are printed at any level.',
  examples: [
    'agent daemon logs --follow',
    'agent daemon logs --lines 1000 --level warn',
    'agent daemon logs --since 90m',
  ],
  flags: {
    follow: Flags.boolean({ char: 'f', description: 'keep printing new lines, until Ctrl-C' }),
    lines: Flags.integer({
      char: 'n',
      description: 'number of existing lines to print; default: 100, or all with --since',
      min: 0,
    }),
    level: Flags.string({ description: 'lowest level to print', options: levelNames }),
    since: Flags.string({
      description: 'print lines from an instant on (2030-01-01T00:00:00Z), or of a duration until now (90m)',
    }),
    ...localDaemonFlags,
  },
  async run({ flags, isJson }) {
    const { since, lines: count = since === undefined ? 100 : Infinity } = flags
    const sinceMs = since === undefined ? undefined : Date.parse(readSince('since', since))
    const isWanted = lineFilter(flags.level, sinceMs)
    const dataDir = findDataDir(flags, fromProcess())
    const path = logPath(dataDir)
    const service = readRunning(dataDir)?.service
    if (service?.manager === 'systemd')
      throw new CommandError(
        `The daemon is the service ${service.name} of systemd. Its log is in the journal.`,
        3,
        commandsFor(service).log,
      )
    const print = (line: string) =>
      void (isWanted(line) && process.stdout.write(`${isJson ? line : formatLogLine(line)}\n`))
    const { lines, place } = readLast(path, count, isWanted)
    lines.forEach(print)
    if (flags.follow) await followLines(path, place, print, new AbortController().signal)
  },
})

function readLast(path: string, count: number, isWanted: (line: string) => boolean) {
  try {
    return lastLines(path, count, isWanted)
  } catch (error) {
    throw new CommandError(
      `There is no log at ${path}: ${systemReason(error)}. A daemon in the foreground logs to its terminal.`,
      3,
      'agent daemon start',
    )
  }
}
