import { findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { findDaemon, stopDaemon } from '../../cli/daemon/find.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { localDaemonFlags } from '../../cli/input/arguments.ts'

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
    await stopDaemon(running)
    say('The daemon has stopped.')
    return { dataDir, pid: running.pid, stopped: true }
  },
})
