/** `agent daemon stop` */
import { findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { findDaemon, waitForEnd } from '../../cli/daemon/find.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { localDaemonFlags } from '../../cli/input/arguments.ts'

const timeoutMs = 10_000

export default defineLocalCommand({
  summary: 'Stop the daemon',
  examples: ['agent daemon stop', 'agent daemon stop --profile issuer'],
  flags: localDaemonFlags,
  async run({ flags, say }) {
    const dataDir = findDataDir(flags, fromProcess())
    const running = await findDaemon(dataDir)
    if (!running) {
      say(`No daemon serves ${dataDir}; there is nothing to stop.`)
      return { dataDir, stopped: false }
    }
    process.kill(running.pid, 'SIGTERM')
    if (!(await waitForEnd(running.pid, timeoutMs))) {
      throw new CommandError(
        `The daemon (process ${running.pid}) has not ended within ${timeoutMs / 1_000} seconds.`,
        6,
        `kill -9 ${running.pid}   # nothing that it acknowledged is lost`,
      )
    }
    say('The daemon has stopped.')
    return { dataDir, pid: running.pid, stopped: true }
  },
})
