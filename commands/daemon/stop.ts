/** `agent daemon stop` */
import * as Flags from '@oclif/core/flags'
import { findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { findDaemon, waitForEnd } from '../../cli/daemon/find.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { PlainCommand } from '../../cli/plain.ts'

const patienceMs = 10_000

export default class DaemonStop extends PlainCommand {
  static override summary = 'Stop the daemon'
  static override examples = [
    '<%= config.bin %> daemon stop',
    '<%= config.bin %> daemon stop --profile issuer',
  ]
  static override flags = {
    'data-dir': Flags.string({ description: 'folder that the daemon serves (AGENT_DATA_DIR)' }),
    profile: Flags.string({ char: 'p', description: 'profile of the daemon (AGENT_PROFILE)' }),
  }

  async run() {
    const { flags } = await this.parse(DaemonStop)
    const dataDir = findDataDir(flags, fromProcess())
    const running = await findDaemon(dataDir)
    if (!running) {
      this.say(`No daemon serves ${dataDir}; there is nothing to stop.`)
      return { dataDir, stopped: false }
    }
    process.kill(running.pid, 'SIGTERM')
    if (!(await waitForEnd(running.pid, patienceMs))) {
      throw new CommandError(
        `The daemon (process ${running.pid}) has not ended within ${patienceMs / 1_000} seconds.`,
        6,
        `kill -9 ${running.pid}   # nothing that it acknowledged is lost`,
      )
    }
    this.say('The daemon has stopped.')
    return { dataDir, pid: running.pid, stopped: true }
  }
}
