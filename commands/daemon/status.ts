import { findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { findDaemon, health } from '../../cli/daemon/find.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { commandsFor } from '../../cli/service/commands.ts'
import { ago } from '../../cli/format/time.ts'
import { localDaemonFlags } from '../../cli/input/arguments.ts'
import { logPath } from '../../src/foundation/log-file.ts'

export default defineLocalCommand({
  summary: 'Show whether the daemon runs, its addresses, and where its data is',
  description: 'Exits with 7 if the daemon does not run or does not answer.',
  examples: ['agent daemon status', 'agent daemon status --json'],
  flags: localDaemonFlags,
  async run({ flags, say, print }) {
    const dataDir = findDataDir(flags, fromProcess())
    const running = await findDaemon(dataDir)
    if (!running) throw new CommandError(`No daemon serves ${dataDir}.`, 7, 'agent daemon start')
    const { url, didcommUrl, certificate, pid, startedAt, calls, service, store, node } = running
    const version = await health(url)
    if (version === undefined)
      throw new CommandError(`The daemon (process ${pid}) does not answer at ${url}.`, 7, 'agent daemon logs')
    const logFile = logPath(dataDir)
    print(url, [
      ['version', version],
      ['api', url],
      ['didcomm', didcommUrl],
      ['certificate', certificate],
      ['pid', pid],
      ['started', ago(startedAt, Date.now())],
      ['data', dataDir],
      ['store', store],
      ['node', node],
      ['service', service && `${service.name} (${service.manager})`],
      ['log', service?.manager === 'systemd' ? commandsFor(service).log : logFile],
    ])
    if (calls !== undefined) say(calls)
    const kept = { dataDir, store, node }
    return { version, url, didcommUrl, certificate, pid, startedAt, ...kept, log: logFile, calls, service }
  },
})
