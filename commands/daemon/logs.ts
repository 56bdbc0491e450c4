/** `agent daemon logs` */
import * as Flags from '@oclif/core/flags'
import { findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { followLines, lastLines, formatLogLine } from '../../cli/daemon/log.ts'
import { logPath } from '../../cli/daemon/launch.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { PlainCommand } from '../../cli/plain.ts'
import { systemReason } from '../../src/base/system-reason.ts'

export default class DaemonLogs extends PlainCommand {
  static override summary = 'Show what the daemon has logged'
  static override description = 'With --json, its lines as they are: one JSON object each.'
  static override examples = [
    '<%= config.bin %> daemon logs --follow',
    '<%= config.bin %> daemon logs --lines 100',
  ]
  static override flags = {
    follow: Flags.boolean({ char: 'f', description: 'go on with what is added, until Ctrl-C' }),
    lines: Flags.integer({ char: 'n', description: 'how many lines to begin with', min: 0, default: 100 }),
    'data-dir': Flags.string({ description: 'folder that the daemon serves (AGENT_DATA_DIR)' }),
    profile: Flags.string({ char: 'p', description: 'profile of the daemon (AGENT_PROFILE)' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonLogs)
    const path = logPath(findDataDir(flags, fromProcess()))
    const print = (line: string) =>
      process.stdout.write(`${this.jsonEnabled() ? line : formatLogLine(line)}\n`)
    const { lines, size } = readLast(path, flags.lines)
    lines.forEach(print)
    if (flags.follow) await followLines(path, size, print, new AbortController().signal)
  }
}

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
