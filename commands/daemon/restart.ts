import { childEnv, findDataDir, fromProcess } from '../../cli/client/settings.ts'
import { toArguments } from '../../cli/daemon/configuration.ts'
import { findDaemon, stopDaemon } from '../../cli/daemon/find.ts'
import { httpsFlag, lanFlag, lanSettings, sayLan } from '../../cli/daemon/lan.ts'
import { detach, launchInBackground } from '../../cli/daemon/launch.ts'
import { requireBackground, variablesOf } from '../../cli/daemon/restart.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { forProfile } from '../../cli/format/next.ts'
import { localDaemonFlags } from '../../cli/input/arguments.ts'
import { logPath } from '../../src/foundation/log-file.ts'

export default defineLocalCommand({
  summary: 'Stop the daemon and start it again, with the same flags and settings',
  description:
    'The daemon gets the flags and the variables of its last start. Variables that are set now have precedence, and --lan and --https, as for `agent daemon start`. Accepted requests are answered, and waiting work continues after the start. Flows, messages and events are in the databases. A service is restarted by its service manager (systemctl restart).',
  examples: [
    'agent daemon restart',
    'agent daemon restart --lan --https',
    'AGENT_LOG_LEVEL=debug agent daemon restart',
  ],
  flags: { ...localDaemonFlags, lan: lanFlag, https: httpsFlag },
  async run(context) {
    const { flags, say, print } = context
    const around = fromProcess()
    const dataDir = findDataDir(flags, around)
    const running = await findDaemon(dataDir)
    if (!running) throw new CommandError(`No daemon serves ${dataDir}.`, 7, 'agent daemon start')
    requireBackground(running)
    const kept = variablesOf(running, process.env, around.AGENT_CONFIG_DIR)
    const { profile = around.AGENT_PROFILE } = running
    const lan = lanSettings(flags)
    const args = [
      ...(running.flags ?? [`AGENT_DATA_DIR=${dataDir}`, `AGENT_PROFILE=${profile}`]),
      // The last flag counts.
      ...toArguments(lan),
    ]
    // A configuration that is not valid any more must not leave the daemon stopped.
    const { configure } = await import('../../src/foundation/config/report.ts')
    const { config } = await configure({ ...process.env, ...kept }, args)
    await sayLan(context, [lan, { AGENT_HTTPS: String(config.AGENT_HTTPS) }])
    await stopDaemon(running)
    const { child, ready } = launchInBackground(dataDir, childEnv(kept), true, args)
    const { url, didcommUrl, certificate, authority, pid, calls, warnings } = await ready
    detach(child)
    const logFile = logPath(dataDir)
    print(url, [
      ['api', url],
      ['didcomm', didcommUrl],
      ['certificate', certificate],
      ['authority', authority],
      ['pid', `${pid} (before: ${running.pid})`],
      ['data', dataDir],
      ['log', logFile],
    ])
    for (const warning of warnings) say(`\nWarning: ${forProfile(warning, flags.profile)}`)
    const secured = { certificate, authority }
    return { url, didcommUrl, ...secured, pid, previousPid: running.pid, dataDir, log: logFile, calls }
  },
})
