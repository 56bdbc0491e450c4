/** `agent daemon status` */
import * as Flags from '@oclif/core/flags'
import { findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { findDaemon, health } from '../../cli/daemon/find.ts'
import { logPath } from '../../cli/daemon/launch.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { fields } from '../../cli/format/table.ts'
import { ago } from '../../cli/format/time.ts'
import { PlainCommand } from '../../cli/plain.ts'

export default class DaemonStatus extends PlainCommand {
  static override summary = 'Show whether the daemon runs, and where'
  static override description = 'Exits with 7 when it does not run or does not answer.'
  static override examples = ['<%= config.bin %> daemon status', '<%= config.bin %> daemon status --json']
  static override flags = {
    'data-dir': Flags.string({ description: 'folder that the daemon serves (AGENT_DATA_DIR)' }),
    profile: Flags.string({ char: 'p', description: 'profile of the daemon (AGENT_PROFILE)' }),
  }

  async run() {
    const { flags } = await this.parse(DaemonStatus)
    const dataDir = findDataDir(flags, fromProcess())
    const running = await findDaemon(dataDir)
    if (!running) throw new CommandError(`No daemon serves ${dataDir}.`, 7, 'agent daemon start')
    const { url, didcommUrl, pid, startedAt, calls } = running
    const version = await health(url)
    if (version === undefined)
      throw new CommandError(`The daemon (process ${pid}) does not answer at ${url}.`, 7, 'agent daemon logs')
    const log = logPath(dataDir)
    this.log(
      fields(
        [
          ['version', version],
          ['api', url],
          ['didcomm', didcommUrl],
          ['pid', pid],
          ['started', ago(startedAt, Date.now())],
          ['data', dataDir],
          ['log', log],
        ],
        this.width,
      ),
    )
    if (calls !== undefined) this.say(calls)
    return { version, url, didcommUrl, pid, startedAt, dataDir, log, calls }
  }
}
